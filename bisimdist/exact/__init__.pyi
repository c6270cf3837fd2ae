from bisimdist.exact.logarithm import alpha_above as alpha_above
from bisimdist.exact.logarithm import alpha_below as alpha_below
from bisimdist.exact.logarithm import log_enclosure as log_enclosure
from bisimdist.exact.number import Exact as Exact

__all__: list[str]
