. "$LIB"
mkdir -p shop tests
touch shop/__init__.py tests/__init__.py
cat >shop/basket.py <<'P'
"""Baskets and what they cost, in cents."""
import warnings

RATES = {"bread": 390, "milk": 145, "cheese": 820}


class Basket:
    def __init__(self, customer, goods=[], discount=0):
        self.customer = customer
        self.goods = goods
        self.discount = discount

    def add(self, name, pieces=1):
        for _ in range(pieces):
            self.goods.append(name)
        return self

    def price(self, name):
        return RATES[name]

    def total(self):
        warnings.warn("Basket.total() will round half up from 2.0 on", DeprecationWarning, stacklevel=2)
        gross = sum(self.price(g) for g in self.goods)
        return gross - gross * self.discount // 100
P
cat >tests/test_basket.py <<'P'
import unittest
from shop.basket import Basket


class TotalTest(unittest.TestCase):
    def test_a_single_good(self):
        self.assertEqual(Basket("ann").add("bread").total(), 390)

    def test_b_pieces(self):
        self.assertEqual(Basket("bob").add("milk", 3).total(), 435)

    def test_c_discount(self):
        self.assertEqual(Basket("cid", discount=10).add("cheese").total(), 738)


if __name__ == "__main__":
    unittest.main()
P
git init -q . && git config user.name dev && git config user.email dev@example.com
git add . && GIT_COMMITTER_DATE='2024-03-04T09:00:00Z' git commit -q --date 2024-03-04T09:00:00Z -m 'Price list for spring'
sed -i 's/"cheese": 780/"cheese": 820/' shop/basket.py
printf '[tool.shop]\nround = "down"\ncurrency = "EUR"\n' >pyproject.toml
git add . && GIT_COMMITTER_DATE='2024-03-05T09:00:00Z' git commit -q --date 2024-03-05T09:00:00Z -m 'Round down until the new rule is in force'
stage test python3 -W default -m unittest -v tests.test_basket
keep 03-source.txt shop/basket.py
show 04-history.txt git log --stat --format='%ad %s' --date=short
keep 05-config.toml pyproject.toml
