from bisimdist.models.io.dot import write_dot as write_dot
from bisimdist.models.io.drn_writer import write_drn as write_drn
from bisimdist.models.io.layout import write_model as write_model
from bisimdist.models.io.load import load_automaton as load_automaton
from bisimdist.models.io.load import load_chain as load_chain
from bisimdist.models.io.load import load_hmm as load_hmm
from bisimdist.models.io.load import load_model as load_model
from bisimdist.models.io.load import parse_model as parse_model
from bisimdist.models.io.prism import read_prism as read_prism
from bisimdist.models.io.prism_writer import write_prism as write_prism
from bisimdist.models.io.reading import Reading as Reading
from bisimdist.models.io.svg import write_svg as write_svg
from bisimdist.models.io.umb import write_umb as write_umb

__all__: list[str]
