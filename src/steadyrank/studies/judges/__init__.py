"""Would other judges change it? Correct many cheap judgments by a few of people's."""
