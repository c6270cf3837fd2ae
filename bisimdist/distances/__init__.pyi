from bisimdist.distances.bound.answer import DistanceAnswer as DistanceAnswer
from bisimdist.distances.bound.answer import ThresholdAnswer as ThresholdAnswer
from bisimdist.distances.bound.ask import bd_threshold as bd_threshold
from bisimdist.distances.bound.program import PairProgram as PairProgram
from bisimdist.distances.bound.program import pair_program as pair_program
from bisimdist.distances.minimise.ask import MinimiseAnswer as MinimiseAnswer

__all__: list[str]
