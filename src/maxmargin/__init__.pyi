from . import datasets as datasets
from . import io as io
from .check import check_problem as check_problem
from .errors import DataError as DataError
from .errors import MaxMarginError as MaxMarginError
from .errors import ModelFileError as ModelFileError
from .errors import ProblemError as ProblemError
from .estimators import BinarySVC as BinarySVC
from .estimators import MulticlassSVC as MulticlassSVC
from .estimators import StructuredSVC as StructuredSVC
from .io.models import load as load
from .problem import KernelProblem as KernelProblem
from .problem import Kernels as Kernels
from .problem import Pack as Pack
from .problem import Problem as Problem
from .result import Result as Result
from .result import Status as Status
from .solvers import SDM as SDM
from .solvers import OneSlack as OneSlack
from .training import train as train

__version__: str
