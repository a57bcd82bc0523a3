"""sitegen.notation: the notation page is its own data."""

from sitegen.notation import Notation

PAGE = """# 术语与符号

## 术语 {#terms}

| 中文 | English | 一句话 |
|---|---|---|
| 残差连接 | residual connection | 把输入加回来 |
| 层归一化 | layer normalization | 一个词一个词地做 |

## 符号 {#symbols}

| 符号 | 形状 |
|:--|--:|
| $W_1$ | $d \\times d_{ff}$ |

## 公式里允许的常数 {#constants}

| 数 | 意思 |
|---|---|
| 4、8 | 每层的份数 |
| 0.044715 | GELU |

## 名字里的数字 {#names}

- GPT-2、GPT-3
- `float64`

## 别的

| 数 | 意思 |
|---|---|
| 77 | 不算 |
"""


def test_tables_and_lists_under_their_ids_are_read():
    notation = Notation.read(PAGE)
    assert notation.constants == {"4", "8", "0.044715"}
    assert notation.names == {"GPT-2", "GPT-3", "float64"}
    assert [row[1] for row in notation.terms] == ["residual connection", "layer normalization"]
    assert len(notation.symbols) == 1


def test_search_keeps_the_terms_whole():
    assert Notation.read(PAGE).dictionary() == "残差连接 100000\n层归一化 100000\n"


def test_a_page_without_these_headings_allows_nothing():
    assert Notation.read("# Nothing\n\n| 4 | x |\n|---|---|\n| 4 | x |") == Notation()
