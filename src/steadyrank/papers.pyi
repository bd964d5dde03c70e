"""Names of `steadyrank_lab.papers`."""

from steadyrank_lab.papers import contradictions as contradictions
from steadyrank_lab.papers import equivalence_intervals as equivalence_intervals
from steadyrank_lab.papers import error_rates as error_rates
from steadyrank_lab.papers import instance_spread as instance_spread
from steadyrank_lab.papers import method_pvalues as method_pvalues
from steadyrank_lab.papers import paper_comparisons as paper_comparisons
from steadyrank_lab.papers import pool_pvalues as pool_pvalues
from steadyrank_lab.papers import single_instance_shares as single_instance_shares
