from bisimdist.models.against import side_by_side as side_by_side
from bisimdist.models.bisimilarity import bisimilarity_classes as bisimilarity_classes
from bisimdist.models.bisimilarity import quotient as quotient
from bisimdist.models.conversions import Conversion as Conversion
from bisimdist.models.entries import Parameter as Parameter
from bisimdist.models.io import Reading as Reading
from bisimdist.models.io import load_automaton as load_automaton
from bisimdist.models.io import load_chain as load_chain
from bisimdist.models.io import load_hmm as load_hmm
from bisimdist.models.io import write_umb as write_umb
from bisimdist.models.io.graph import from_networkx as from_networkx
from bisimdist.models.io.graph import to_networkx as to_networkx
from bisimdist.models.library.registry import ExampleInfo as ExampleInfo
from bisimdist.models.mechanisms.table import mechanism_model as mechanism_model
from bisimdist.models.model import WrongKindError as WrongKindError
from bisimdist.models.pa import Transition as Transition
from bisimdist.models.pa import action_labelled_lmc as action_labelled_lmc

__all__: list[str]
