"""What tests of several papers look up and check in a reproduction."""


def exhibit(found, name):
    return next(each for each in found.exhibits if each.id == name)


def values(table):
    return [[cell.value for cell in row] for row in table.rows]


def check_verdicts(claims, verdicts):
    """Whether claims come out as expected and say why; `...` allows any outcome."""
    assert len(claims) == len(verdicts)
    for claim, expected in zip(claims, verdicts, strict=True):
        assert expected is ... or claim.holds is expected, (claim.text, claim.detail)
        assert claim.detail
