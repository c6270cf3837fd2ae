from bisimdist.budgets.budget.all_inputs import AllInputsBudget as AllInputsBudget
from bisimdist.budgets.budget.all_inputs import all_inputs_budget as all_inputs_budget
from bisimdist.budgets.budget.ask import MechanismBudget as MechanismBudget
from bisimdist.budgets.budget.program import ProgramBudget as ProgramBudget
from bisimdist.budgets.budget.program import program_budget as program_budget
from bisimdist.budgets.prove.answer import AllLengthsAnswer as AllLengthsAnswer
from bisimdist.budgets.prove.ask import for_all_lengths as for_all_lengths
from bisimdist.budgets.verify.answer import BudgetAnswer as BudgetAnswer
from bisimdist.budgets.verify.answer import Verdict as Verdict
from bisimdist.budgets.verify.answer import VerifyAnswer as VerifyAnswer
from bisimdist.budgets.verify.tested import TestedAnswer as TestedAnswer
from bisimdist.budgets.verify.tested import tested_budget as tested_budget

__all__: list[str]
