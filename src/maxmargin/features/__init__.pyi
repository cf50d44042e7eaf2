from .extractor import Extractor as Extractor
from .rows import Rows as Rows
from .template import Template as Template
from .vocabulary import Vocabulary as Vocabulary
