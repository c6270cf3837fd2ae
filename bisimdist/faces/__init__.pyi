from bisimdist.checker.core.shape import CheckReport as CheckReport
from bisimdist.faces.cli.schemas import json_schema as json_schema
from bisimdist.faces.shown.frames import to_pandas as to_pandas
from bisimdist.faces.shown.matrix import Matrix as Matrix
from bisimdist.faces.shown.pair_bounds import PairBound as PairBound
from bisimdist.faces.shown.progress_bar import progress_bar as progress_bar
from bisimdist.faces.shown.proof_pictures import Picture as Picture

__all__: list[str]
