. "$LIB"
mkdir -p src test node_modules/ledger-format node_modules/date-cells
cat >package.json <<'J'
{
  "name": "statement-import",
  "version": "4.2.0",
  "private": true,
  "type": "commonjs",
  "scripts": { "test": "node --test test/" },
  "dependencies": {
    "date-cells": "^1.0.0",
    "ledger-format": "^2.1.0"
  }
}
J
cat >node_modules/ledger-format/package.json <<'J'
{ "name": "ledger-format", "version": "3.0.1", "main": "index.js" }
J
cat >node_modules/ledger-format/index.js <<'J'
'use strict';
exports.parse = async (text) => text.trim().split('\n').map((l) => l.split(';'));
J
cat >node_modules/date-cells/package.json <<'J'
{ "name": "date-cells", "version": "1.4.2", "main": "index.js" }
J
echo "exports.iso = (s) => s.split('.').reverse().join('-');" >node_modules/date-cells/index.js
cat >src/import.js <<'J'
'use strict';
const ledger = require('ledger-format');
const { iso } = require('date-cells');

// rows of one statement, dates as ISO
exports.rows = function rows(text) {
  const table = ledger.parseSync(text);
  return table.map(([day, payee, amount]) => ({ day: iso(day), payee, amount: Number(amount) }));
};
J
cat >test/import.test.js <<'J'
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const { rows } = require('../src/import.js');

test('one row', () => {
  assert.deepStrictEqual(rows('01.03.2024;Mill;12.5\n'), [{ day: '2024-03-01', payee: 'Mill', amount: 12.5 }]);
});
test('empty payee', () => {
  assert.strictEqual(rows('02.03.2024;;7\n')[0].payee, '');
});
J
stage test npm test
keep 03-config.json package.json
show 04-environment.txt node --version
show 04-environment.txt npm ls --depth=0
keep 05-source.txt src/import.js
