"""Published facts: figures and findings of others, each with the place where it was read.

An article prints a fact by its id, `num(fact("tr.base.d_model"))`, and computes with `fact("tr.base.d_model").value`.
Sizes of whole models are in `specs`. What could not be read at its source is not here.
"""

from dataclasses import dataclass, replace
from difflib import get_close_matches


@dataclass(frozen=True)
class Source:
    """A publication; `where` is the section, table or file."""

    title: str
    authors: str
    year: int
    where: str = ""
    arxiv: str = ""
    url: str = ""

    @property
    def link(self) -> str:
        """Where to read it; empty if nowhere online."""
        return self.url or (f"https://arxiv.org/abs/{self.arxiv}" if self.arxiv else "")

    def at(self, where: str) -> "Source":
        """The same publication, at another place."""
        return replace(self, where=where)


@dataclass(frozen=True)
class Fact:
    """One published value. A finding without a number has its short wording as value."""

    id: str
    value: int | float | str
    unit: str
    statement: str
    source: Source


def fact(id: str) -> Fact:
    """The fact with this id.

    >>> fact("tr.base.d_model").value
    512
    """
    if id not in FACTS:
        near = get_close_matches(id, FACTS, n=3, cutoff=0.4)
        raise KeyError(
            f"no fact {id!r}; " + (f"near: {', '.join(near)}" if near else f"there are {len(FACTS)} in FACTS")
        )
    return FACTS[id]


TRANSFORMER = Source(
    "Attention Is All You Need",
    "Vaswani, Shazeer, Parmar, Uszkoreit, Jones, Gomez, Kaiser, Polosukhin",
    2017,
    arxiv="1706.03762",
)
BAHDANAU = Source(
    "Neural Machine Translation by Jointly Learning to Align and Translate",
    "Bahdanau, Cho, Bengio",
    2014,
    arxiv="1409.0473",
)
MEMORY_NETWORKS = Source(
    "End-To-End Memory Networks", "Sukhbaatar, Szlam, Weston, Fergus", 2015, arxiv="1503.08895"
)
DECOMPOSABLE = Source(
    "A Decomposable Attention Model for Natural Language Inference",
    "Parikh, Täckström, Das, Uszkoreit",
    2016,
    arxiv="1606.01933",
)
CONVS2S = Source(
    "Convolutional Sequence to Sequence Learning",
    "Gehring, Auli, Grangier, Yarats, Dauphin",
    2017,
    arxiv="1705.03122",
)
ILLUSTRATED = Source(
    "The Illustrated Transformer", "Alammar", 2018, url="https://jalammar.github.io/illustrated-transformer/"
)
RESNET = Source("Deep Residual Learning for Image Recognition", "He, Zhang, Ren, Sun", 2015, arxiv="1512.03385")
IDENTITY = Source("Identity Mappings in Deep Residual Networks", "He, Zhang, Ren, Sun", 2016, arxiv="1603.05027")
HIGHWAY = Source("Highway Networks", "Srivastava, Greff, Schmidhuber", 2015, arxiv="1505.00387")
DENSENET = Source(
    "Densely Connected Convolutional Networks", "Huang, Liu, van der Maaten, Weinberger", 2016, arxiv="1608.06993"
)
CIRCUITS = Source(
    "A Mathematical Framework for Transformer Circuits",
    "Elhage et al. (Anthropic)",
    2021,
    url="https://transformer-circuits.pub/2021/framework/index.html",
)
RANK = Source(
    "Attention is Not All You Need: Pure Attention Loses Rank Doubly Exponentially with Depth",
    "Dong, Cordonnier, Loukas",
    2021,
    arxiv="2103.03404",
)
LAYER_NORM = Source("Layer Normalization", "Ba, Kiros, Hinton", 2016, arxiv="1607.06450")
RMS_NORM = Source("Root Mean Square Layer Normalization", "Zhang, Sennrich", 2019, arxiv="1910.07467")
TENSOR2TENSOR = Source("tensor2tensor", "Google", 2017, url="https://github.com/tensorflow/tensor2tensor")
XIONG = Source(
    "On Layer Normalization in the Transformer Architecture",
    "Xiong, Yang, He, Zheng, Zheng, Xing, Zhang, Lan, Wang, Liu",
    2020,
    arxiv="2002.04745",
)
KEY_VALUE = Source(
    "Transformer Feed-Forward Layers Are Key-Value Memories", "Geva, Schuster, Berant, Levy", 2021, arxiv="2012.14913"
)
GELU = Source("Gaussian Error Linear Units (GELUs)", "Hendrycks, Gimpel", 2016, arxiv="1606.08415")
GLU = Source("GLU Variants Improve Transformer", "Shazeer", 2020, arxiv="2002.05202")
KAPLAN = Source("Scaling Laws for Neural Language Models", "Kaplan et al.", 2020, arxiv="2001.08361")
GPT1 = Source(
    "Improving Language Understanding by Generative Pre-Training",
    "Radford, Narasimhan, Salimans, Sutskever",
    2018,
    url="https://cdn.openai.com/research-covers/language-unsupervised/language_understanding_paper.pdf",
)
GPT2 = Source(
    "Language Models are Unsupervised Multitask Learners",
    "Radford, Wu, Child, Luan, Amodei, Sutskever",
    2019,
    url="https://github.com/openai/gpt-2",
)
GPT3 = Source("Language Models are Few-Shot Learners", "Brown et al.", 2020, arxiv="2005.14165")
BERT = Source(
    "BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding",
    "Devlin, Chang, Lee, Toutanova",
    2018,
    arxiv="1810.04805",
)

_TRANSFORMER_2017 = [
    Fact("tr.date", 2017, "year", "On arXiv in June, at NIPS in December", TRANSFORMER.at("title page")),
    Fact(
        "tr.layers",
        6,
        "layers",
        "Layers in the encoder, and again in the decoder; base and big",
        TRANSFORMER.at("sec. 3.1; Table 3"),
    ),
    Fact("tr.base.d_model", 512, "dims", "Width of the base model", TRANSFORMER.at("sec. 3.1; Table 3")),
    Fact(
        "tr.base.d_ff", 2048, "dims", "Hidden width of its feed-forward networks", TRANSFORMER.at("sec. 3.3; Table 3")
    ),
    Fact("tr.base.h", 8, "heads", "Heads of the base model", TRANSFORMER.at("sec. 3.2.2")),
    Fact("tr.base.dk", 64, "dims", "Width of one head, d_model / h", TRANSFORMER.at("sec. 3.2.2")),
    Fact(
        "tr.base.dropout",
        0.1,
        "",
        "Dropout on each sublayer's output before it is added, and on the embedded input",
        TRANSFORMER.at("sec. 5.4; Table 3"),
    ),
    Fact("tr.base.params", 65, "million", "Parameters of the base model, as printed", TRANSFORMER.at("Table 3")),
    Fact(
        "tr.base.steps",
        100_000,
        "steps",
        "Training steps of the base model, about 12 hours on 8 P100",
        TRANSFORMER.at("sec. 5.2"),
    ),
    Fact("tr.big.d_model", 1024, "dims", "Width of the big model", TRANSFORMER.at("Table 3, row big")),
    Fact("tr.big.d_ff", 4096, "dims", "Hidden width of its feed-forward networks", TRANSFORMER.at("Table 3, row big")),
    Fact("tr.big.h", 16, "heads", "Heads of the big model", TRANSFORMER.at("Table 3, row big")),
    Fact(
        "tr.big.dropout",
        0.3,
        "",
        "Dropout of the big model (0.1 for English–French)",
        TRANSFORMER.at("Table 3; sec. 6.1"),
    ),
    Fact("tr.big.params", 213, "million", "Parameters of the big model, as printed", TRANSFORMER.at("Table 3")),
    Fact("tr.big.steps", 300_000, "steps", "Training steps of the big model, 3.5 days", TRANSFORMER.at("sec. 5.2")),
]

_ATTENTION = [
    Fact("tr.attention", "softmax(QKᵀ/√d_k)V", "", "Scaled dot-product attention", TRANSFORMER.at("sec. 3.2.1, eq. 1")),
    Fact(
        "tr.scaling_reason",
        "variance d_k",
        "",
        "Independent components of mean 0 and variance 1 give q·k a variance of d_k",
        TRANSFORMER.at("sec. 3.2.1, footnote 4"),
    ),
    Fact(
        "tr.additive_or_dot",
        "similar for small d_k",
        "",
        "For larger d_k additive attention does better than dot products without scaling; large ones are suspected"
        " of pushing softmax where gradients are extremely small",
        TRANSFORMER.at("sec. 3.2.1"),
    ),
    Fact("hist.bahdanau", 2014, "year", "Additive attention in translation; ICLR 2015", BAHDANAU.at("app. A.1.2")),
    Fact("hist.memory_networks", 2015, "year", "Attention over a memory of sentences", MEMORY_NETWORKS.at("abstract")),
    Fact("hist.decomposable", 2016, "year", "Attention and feed-forward networks alone", DECOMPOSABLE.at("abstract")),
    Fact("hist.convs2s", 2017, "year", "Attention between convolutional networks; arXiv, May", CONVS2S.at("abstract")),
    Fact("pictured.score_1", 112, "", "The first score of the picture of self-attention", ILLUSTRATED.at("step four")),
    Fact("pictured.score_2", 96, "", "The second score of that picture", ILLUSTRATED.at("step four")),
]

_RESIDUAL = [
    Fact("res.origin", 2015, "year", "Residual connections in ResNet: arXiv, December", RESNET.at("title page")),
    Fact(
        "res.56_20",
        "56 > 20",
        "",
        "On CIFAR-10 a plain 56-layer net has the higher training error of the two",
        RESNET.at("Fig. 1; Fig. 6 left"),
    ),
    Fact("res.56_20.deep", 56, "layers", "The deeper of the two plain nets", RESNET.at("Fig. 1")),
    Fact("res.56_20.shallow", 20, "layers", "The shallower of the two plain nets", RESNET.at("Fig. 1")),
    Fact(
        "res.cause",
        "unlikely vanishing gradients",
        "",
        "The plain nets use batch norm and their gradients keep healthy norms",
        RESNET.at("sec. 4.1, Plain Networks"),
    ),
    Fact(
        "res.identity_mappings",
        2016,
        "year",
        "With identity skips, signals and gradients pass directly between any two layers",
        IDENTITY.at("abstract"),
    ),
    Fact("res.cifar20", 8.75, "% error", "ResNet-20 on the CIFAR-10 test set", RESNET.at("Table 6")),
    Fact("res.cifar32", 7.51, "% error", "ResNet-32 on the CIFAR-10 test set", RESNET.at("Table 6")),
    Fact("res.cifar44", 7.17, "% error", "ResNet-44 on the CIFAR-10 test set", RESNET.at("Table 6")),
    Fact("res.cifar56", 6.97, "% error", "ResNet-56 on the CIFAR-10 test set", RESNET.at("Table 6")),
    Fact(
        "res.cifar110", 6.43, "% error", "ResNet-110 on the CIFAR-10 test set, best of five runs", RESNET.at("Table 6")
    ),
    Fact(
        "res.cifar110.mean",
        6.61,
        "% error",
        "The mean of these five runs (standard deviation 0.16)",
        RESNET.at("Table 6"),
    ),
    Fact(
        "res.cifar1202",
        7.93,
        "% error",
        "ResNet-1202 on the CIFAR-10 test set; training error under 0.1 %",
        RESNET.at("Table 6"),
    ),
    Fact(
        "res.plain110",
        60,
        "% error",
        "The plain 110-layer net has more than this and is not drawn",
        RESNET.at("Fig. 6, caption"),
    ),
    Fact(
        "res.imagenet_18_34",
        25.03,
        "% top-1 error",
        "ResNet-34 on ImageNet validation, ten crops",
        RESNET.at("Table 2"),
    ),
    Fact("res.imagenet.plain18", 27.94, "% top-1 error", "Plain 18-layer net, same test", RESNET.at("Table 2")),
    Fact("res.imagenet.plain34", 28.54, "% top-1 error", "Plain 34-layer net, same test", RESNET.at("Table 2")),
    Fact("res.imagenet.res18", 27.88, "% top-1 error", "ResNet-18, same test", RESNET.at("Table 2")),
    Fact("res.152", 4.49, "% top-5 error", "ResNet-152 on ImageNet validation, a single model", RESNET.at("Table 4")),
    Fact(
        "res.ensemble",
        3.57,
        "% top-5 error",
        "Six models together on the ImageNet test set: winner of ILSVRC 2015",
        RESNET.at("Table 5"),
    ),
    Fact(
        "res.highway",
        "2015-05",
        "date",
        "Highway networks, with gated skips, come before ResNet",
        HIGHWAY.at("title page"),
    ),
    Fact(
        "res.densenet",
        "concatenation",
        "",
        "DenseNet puts earlier features side by side; it does not add them",
        DENSENET.at("sec. 3"),
    ),
    Fact(
        "res.init_identity",
        "1/√N",
        "",
        "GPT-2 shrinks residual weights at the start by this, N the number of residual layers",
        GPT2.at("sec. 2.3"),
    ),
    Fact(
        "res.shape",
        "d_model",
        "",
        "Every sublayer keeps the width, so that sums need no projection",
        TRANSFORMER.at("sec. 3.1"),
    ),
    Fact("res.stream", 2021, "year", "The name residual stream", CIRCUITS.at("section on the residual stream")),
]

_RANK = [
    Fact(
        "rank.theorem",
        "doubly exponential",
        "",
        "Without skips and feed-forward networks all positions become alike this fast",
        RANK.at("abstract; Theorems 2.2, 2.3"),
    ),
    Fact(
        "rank.skip",
        "skips stop it, MLPs slow it, layer norm plays no role",
        "",
        "What works against the collapse in that analysis",
        RANK.at("introduction; sec. 3"),
    ),
    Fact("rank.date", 2021, "year", "arXiv in March, ICML 2021", RANK.at("title page")),
    Fact(
        "rank.convex",
        "one head only",
        "",
        "One head's output lies between its values; W_O mixes heads, so a layer's output need not",
        TRANSFORMER.at("sec. 3.2"),
    ),
]

_LAYER_NORM = [
    Fact("ln.paper", 2016, "year", "Layer normalization: arXiv, July", LAYER_NORM.at("title page")),
    Fact(
        "ln.motivation",
        "same in training and use",
        "",
        "Independent of the batch, steadies recurrent nets, shortens training",
        LAYER_NORM.at("abstract"),
    ),
    Fact(
        "ln.axis",
        "per token",
        "",
        "In a Transformer each token's d_model entries are normalised on their own",
        LAYER_NORM.at("sec. 3"),
    ),
    Fact(
        "ln.gain",
        "gain and bias",
        "",
        "After them the mean is no longer 0 nor the deviation 1",
        LAYER_NORM.at("abstract"),
    ),
    Fact(
        "ln.batch1",
        1,
        "batch size",
        "Works with a single example; batch norm depends on the others",
        LAYER_NORM.at("abstract"),
    ),
    Fact(
        "ln.preln",
        "pre-norm",
        "",
        "GPT-2 norms the input of each sublayer and adds a norm after the last block",
        GPT2.at("sec. 2.3"),
    ),
    Fact(
        "ln.pre_ln_order",
        "x + Attn(LN(x)), x + FFN(LN(x))",
        "",
        "GPT-2's block; a last norm follows the last block",
        GPT2.at("src/model.py, block and ln_f"),
    ),
    Fact(
        "ln.preln_earlier",
        "2017-10-06",
        "date",
        "Pre-norm becomes the default of tensor2tensor, before GPT-2",
        TENSOR2TENSOR.at("commit d5bdfcc85f; models/transformer.py, transformer_base_v2"),
    ),
    Fact(
        "ln.gpt1_post",
        "post-norm",
        "",
        "GPT-1 norms after the sum",
        GPT1.at("openai/finetune-transformer-lm, train.py, block"),
    ),
    Fact("ln.bert_post", "post-norm", "", "BERT norms after the sum", BERT.at("google-research/bert, modeling.py")),
    Fact(
        "ln.xiong",
        2020,
        "year",
        "At the start post-norm has large gradients near the output and needs warm-up; pre-norm can do without",
        XIONG.at("abstract"),
    ),
    Fact("rms.paper", 2019, "year", "RMSNorm: no mean subtracted, quality comparable", RMS_NORM.at("abstract")),
    Fact("rms.time.least", 7, "% time", "Least saving of running time among its tests", RMS_NORM.at("abstract")),
    Fact("rms.time.most", 64, "% time", "Greatest saving of running time among its tests", RMS_NORM.at("abstract")),
]

_FEED_FORWARD = [
    Fact(
        "ffn.share",
        2 / 3,
        "share",
        "Feed-forward networks hold two thirds of the parameters (4× width, full multi-head attention)",
        KEY_VALUE.at("abstract"),
    ),
    Fact(
        "ffn.kv_memories",
        "key-value memories",
        "",
        "Columns of W_1 answer to patterns in text, rows of W_2 raise likely next words, most clearly in upper layers",
        KEY_VALUE.at("abstract"),
    ),
    Fact("act.gelu", 2016, "year", "GELU(x) = x · Φ(x): arXiv, June", GELU.at("abstract")),
    Fact(
        "act.gpt_gelu",
        "tanh form",
        "",
        "The code of GPT-1 and GPT-2 uses GELU's tanh form",
        GPT2.at("src/model.py, gelu"),
    ),
    Fact("act.swiglu", 3, "matrices", "SwiGLU is a gate with a third matrix, without biases", GLU.at("sec. 2, eq. 6")),
    Fact(
        "act.two_thirds",
        2 / 3,
        "factor",
        "d_ff shrinks by this to keep parameters and operations the same",
        GLU.at("sec. 2; sec. 3.1"),
    ),
    *(
        Fact(
            f"act.glu.{name.lower()}",
            loss,
            "log-perplexity",
            f"{name} feed-forward network, held out, after 524,288 steps",
            GLU.at("Table 1"),
        )
        for name, loss in [
            ("ReLU", 1.677),
            ("GELU", 1.679),
            ("Swish", 1.683),
            ("GLU", 1.663),
            ("Bilinear", 1.648),
            ("ReGLU", 1.645),
            ("SwiGLU", 1.636),
            ("GEGLU", 1.633),
        ]
    ),
]

_MODELS = [
    Fact("gpt2.small.n_layers", 12, "layers", "Layers of the smallest GPT-2", GPT2.at("Table 2")),
    Fact("gpt2.medium.n_layers", 24, "layers", "Layers of the second GPT-2", GPT2.at("Table 2")),
    Fact("gpt2.large.n_layers", 36, "layers", "Layers of the third GPT-2", GPT2.at("Table 2")),
    Fact("gpt2.xl.n_layers", 48, "layers", "Layers of the largest GPT-2", GPT2.at("Table 2")),
    Fact("gpt3.175b.n_layers", 96, "layers", "Layers of the largest GPT-3", GPT3.at("Table 2.1")),
    Fact("gpt3.175b.d_model", 12288, "dims", "Width of the largest GPT-3", GPT3.at("Table 2.1")),
    Fact("gpt3.dff", 49152, "dims", "Hidden width of its feed-forward networks, 4 d_model", GPT3.at("sec. 2.1")),
    Fact("gpt3.ctx", 2048, "tokens", "Context window of GPT-3", GPT3.at("sec. 2.1")),
    Fact(
        "gpt3.tokens", 300_000_000_000, "tokens", "Training tokens of every GPT-3 model", GPT3.at("Table 2.1, caption")
    ),
    Fact("bert.base.n_layers", 12, "layers", "Layers of BERT-base", BERT.at("sec. 3")),
    Fact("bert.base.d_model", 768, "dims", "Width of BERT-base", BERT.at("sec. 3")),
    Fact("bert.base.params", 110, "million", "Parameters of BERT-base, as printed", BERT.at("sec. 3")),
    Fact(
        "kaplan.12Ld2",
        "12 L d²",
        "parameters",
        "Parameters without embeddings, biases and norms",
        KAPLAN.at("sec. 2.1"),
    ),
]

FACTS = {f.id: f for f in _TRANSFORMER_2017 + _ATTENTION + _RESIDUAL + _RANK + _LAYER_NORM + _FEED_FORWARD + _MODELS}
