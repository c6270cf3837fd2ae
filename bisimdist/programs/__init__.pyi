from bisimdist.programs.analyst import explore_interactive as explore_interactive
from bisimdist.programs.bent import explore_bent as explore_bent
from bisimdist.programs.chain import ProgramChain as ProgramChain
from bisimdist.programs.chain import ProgramInteractive as ProgramInteractive
from bisimdist.programs.program.playing import played as played
from bisimdist.programs.source import ExactRandom as ExactRandom
from bisimdist.programs.source import flip as flip
from bisimdist.programs.source import geometric as geometric
from bisimdist.programs.source import observe as observe
from bisimdist.programs.source import pick as pick
from bisimdist.programs.source import two_sided_geometric as two_sided_geometric
from bisimdist.programs.source import uniform as uniform

__all__: list[str]
