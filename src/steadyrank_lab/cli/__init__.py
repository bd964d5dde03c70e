"""Commands of the laboratory, which the entry-point group `steadyrank.commands` names."""

COMMANDS = {
    "grid": "make runs from every combination of components",
    "shard": "make instances of a selective-search system",
    "reproduce": "reproduce a paper's tables and figures",
}
