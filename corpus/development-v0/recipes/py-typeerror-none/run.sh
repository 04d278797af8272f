#!/usr/bin/env bash
set -u
. "$LIB"

export PATH=/usr/bin:/bin PYTHONDONTWRITEBYTECODE=1
mkdir -p billing
: > billing/__init__.py
printf 'def fee(amount):\n    cut = max(30, amount * 29 // 1000)\n\n\ndef total(amounts):\n    return sum(a + fee(a) for a in amounts)\n' > billing/fees.py
printf 'import unittest\n\nfrom billing.fees import total\n\n\nclass Fees(unittest.TestCase):\n    def test_total(self):\n        self.assertEqual(total([1000, 2000]), 3088)\n\n\nif __name__ == "__main__":\n    unittest.main()\n' > test_fees.py
stage test python3 test_fees.py
keep 03-source.py billing/fees.py
exit 0
