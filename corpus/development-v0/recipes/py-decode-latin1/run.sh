#!/usr/bin/env bash
set -u
. "$LIB"

export PATH=/usr/bin:/bin PYTHONDONTWRITEBYTECODE=1
printf 'id;name\n1;Anna\n2;J\xfcrgen\n3;Zo\xeb\n' > people.csv
printf 'import csv\nimport sys\n\nwith open(sys.argv[1], encoding="utf-8", newline="") as f:\n    for row in csv.reader(f, delimiter=";"):\n        print(len(row), row[0])\n' > load.py
stage load python3 load.py people.csv
keep 03-source.py load.py
exit 0
