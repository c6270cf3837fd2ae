from bisimdist.privacy.audit.answer import Audit as Audit
from bisimdist.privacy.audit.answer import Distinguisher as Distinguisher
from bisimdist.privacy.audit.ask import distinguisher as distinguisher
from bisimdist.privacy.compare.ask import Compared as Compared
from bisimdist.privacy.compare.ask import Comparison as Comparison
from bisimdist.privacy.compose.answer import Composition as Composition
from bisimdist.privacy.compose.answer import DeltaPoint as DeltaPoint
from bisimdist.privacy.compose.answer import EpsilonPoint as EpsilonPoint
from bisimdist.privacy.crosscheck.answer import CheckedPair as CheckedPair
from bisimdist.privacy.crosscheck.answer import CrosscheckAnswer as CrosscheckAnswer
from bisimdist.privacy.delta.answer import DeltaAnswer as DeltaAnswer
from bisimdist.privacy.delta.answer import DeltaBound as DeltaBound
from bisimdist.privacy.leakage.answer import LeakageAnswer as LeakageAnswer
from bisimdist.privacy.leakage.bounds import LeakageBound as LeakageBound
from bisimdist.privacy.profile.answer import ProfileAnswer as ProfileAnswer
from bisimdist.privacy.profile.answer import ProfilePoint as ProfilePoint
from bisimdist.privacy.profile.threshold_search import LeastAlpha as LeastAlpha
from bisimdist.privacy.profile.threshold_search import least_alpha as least_alpha
from bisimdist.privacy.synthesise.answer import BestAnswer as BestAnswer
from bisimdist.privacy.synthesise.answer import BoxAnswer as BoxAnswer
from bisimdist.privacy.synthesise.answer import PiecesAnswer as PiecesAnswer
from bisimdist.privacy.synthesise.ask import delta_for_all as delta_for_all
from bisimdist.privacy.synthesise.ask import delta_over as delta_over

__all__: list[str]
