from bisimdist.automata.generalised.ask import GeneralisedAnswer as GeneralisedAnswer
from bisimdist.automata.generalised.ask import GeneralisedBound as GeneralisedBound
from bisimdist.automata.generalised.ask import generalised_metric as generalised_metric
from bisimdist.automata.metric.answer import MetricAnswer as MetricAnswer
from bisimdist.automata.metric.answer import MetricBound as MetricBound
from bisimdist.automata.robust.ask import RobustnessAnswer as RobustnessAnswer
from bisimdist.automata.robust.ask import robustness as robustness

__all__: list[str]
