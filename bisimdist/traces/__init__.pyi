from bisimdist.traces.equivalence.ask import TraceEquivalenceAnswer as TraceEquivalenceAnswer
from bisimdist.traces.equivalence.ask import trace_classes as trace_classes
from bisimdist.traces.equivalence.ask import trace_equivalence as trace_equivalence
from bisimdist.traces.same.ask import SameAnswer as SameAnswer
from bisimdist.traces.same.ask import SamePair as SamePair
from bisimdist.traces.same.ask import same_models as same_models
from bisimdist.traces.secrets.answer import SecretPair as SecretPair
from bisimdist.traces.secrets.answer import SecretPrivacyAnswer as SecretPrivacyAnswer
from bisimdist.traces.secrets.ask import secret_privacy as secret_privacy
from bisimdist.traces.trace.answer import TraceBound as TraceBound
from bisimdist.traces.trace.answer import TraceMetricAnswer as TraceMetricAnswer
from bisimdist.traces.trace.answer import WeakAnonymityAnswer as WeakAnonymityAnswer
from bisimdist.traces.trace.ask import weak_anonymity as weak_anonymity

__all__: list[str]
