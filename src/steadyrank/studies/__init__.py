"""One file per question: the studies, each a function of scores that returns a result."""
