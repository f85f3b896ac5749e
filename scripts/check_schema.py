#!/usr/bin/python3
"""Checks JSON files against a JSON Schema: the keywords that our schemas use, and no others.

    scripts/check_schema.py SCHEMA.json FILE.json...

Says what does not fit and where; exit status 1 then. An unknown keyword in the schema is an error, lest it check nothing.
"""
import json
import re
import sys

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
ANNOTATIONS = {"$schema", "$id", "$defs", "$comment", "title", "description", "default", "examples"}


def has_type(value, name):
  if name == "integer":
    return isinstance(value, int) and not isinstance(value, bool)
  if name == "number":
    return isinstance(value, (int, float)) and not isinstance(value, bool)
  return isinstance(value, TYPES[name])


class Checker:
  def __init__(self, root):
    self.root = root

  def resolve(self, ref):
    node = self.root
    for part in ref.removeprefix("#/").split("/"):
      node = node[part]
    return node

  def check(self, value, schema, at):
    """What is wrong, as a list."""
    if schema is True or schema is False:
      return [] if schema else [f"{at}: nothing is allowed here"]
    wrong = []
    for keyword, rule in schema.items():
      if keyword in ANNOTATIONS or keyword in ("if", "then", "else"):
        continue
      method = getattr(self, "rule_" + keyword.replace("$", ""), None)
      if method is None:
        raise SystemExit(f"the keyword '{keyword}' of the schema is not known to this checker")
      wrong += method(value, rule, schema, at)
    if "if" in schema:
      branch = "then" if not self.check(value, schema["if"], at) else "else"
      wrong += self.check(value, schema.get(branch, True), at)
    return wrong

  def rule_ref(self, v, rule, schema, at):
    return self.check(v, self.resolve(rule), at)

  def rule_type(self, v, rule, schema, at):
    names = rule if isinstance(rule, list) else [rule]
    return [] if any(has_type(v, n) for n in names) else [f"{at}: expected {' or '.join(names)}, found {v!r}"]

  def rule_const(self, v, rule, schema, at):
    return [] if v == rule and type(v) is type(rule) else [f"{at}: expected {rule!r}, found {v!r}"]

  def rule_enum(self, v, rule, schema, at):
    return [] if v in rule else [f"{at}: {v!r} is none of {rule}"]

  def rule_required(self, v, rule, schema, at):
    return [f"{at}.{k}: is missing" for k in rule if isinstance(v, dict) and k not in v]

  def rule_properties(self, v, rule, schema, at):
    return [w for k, s in rule.items() if isinstance(v, dict) and k in v for w in self.check(v[k], s, f"{at}.{k}")]

  def rule_additionalProperties(self, v, rule, schema, at):
    known = schema.get("properties", {})
    return [w for k, x in (v.items() if isinstance(v, dict) else []) if k not in known for w in self.check(x, rule, f"{at}.{k}")]

  def rule_items(self, v, rule, schema, at):
    return [w for i, x in enumerate(v if isinstance(v, list) else []) for w in self.check(x, rule, f"{at}[{i}]")]

  def rule_minItems(self, v, rule, schema, at):
    return [f"{at}: fewer than {rule} items"] if isinstance(v, list) and len(v) < rule else []

  def rule_maxItems(self, v, rule, schema, at):
    return [f"{at}: more than {rule} items"] if isinstance(v, list) and len(v) > rule else []

  def rule_minLength(self, v, rule, schema, at):
    return [f"{at}: shorter than {rule}"] if isinstance(v, str) and len(v) < rule else []

  def rule_maxLength(self, v, rule, schema, at):
    return [f"{at}: longer than {rule}"] if isinstance(v, str) and len(v) > rule else []

  def rule_minimum(self, v, rule, schema, at):
    return [f"{at}: {v} is below {rule}"] if has_type(v, "number") and v < rule else []

  def rule_maximum(self, v, rule, schema, at):
    return [f"{at}: {v} is above {rule}"] if has_type(v, "number") and v > rule else []

  def rule_multipleOf(self, v, rule, schema, at):
    return [f"{at}: {v} is no multiple of {rule}"] if has_type(v, "number") and v % rule else []

  def rule_exclusiveMaximum(self, v, rule, schema, at):
    return [f"{at}: {v} is not below {rule}"] if has_type(v, "number") and v >= rule else []

  def rule_pattern(self, v, rule, schema, at):
    return [f"{at}: {v!r} does not match {rule}"] if isinstance(v, str) and not re.search(rule, v) else []

  def rule_uniqueItems(self, v, rule, schema, at):
    return [f"{at}: two items are equal"] if rule and isinstance(v, list) and len({json.dumps(x) for x in v}) < len(v) else []

  def rule_allOf(self, v, rule, schema, at):
    return [w for s in rule for w in self.check(v, s, at)]

  def rule_anyOf(self, v, rule, schema, at):
    return [] if any(not self.check(v, s, at) for s in rule) else [f"{at}: fits no alternative"]

  def rule_oneOf(self, v, rule, schema, at):
    fits = sum(not self.check(v, s, at) for s in rule)
    return [] if fits == 1 else [f"{at}: fits {fits} alternatives, expected 1: {json.dumps(v)[:200]}"]

  def rule_not(self, v, rule, schema, at):
    return [] if self.check(v, rule, at) else [f"{at}: must not fit"]


def main():
  if len(sys.argv) < 3:
    sys.exit(__doc__)
  schema = json.load(open(sys.argv[1], encoding="utf-8"))
  checker = Checker(schema)
  wrong = []
  for file in sys.argv[2:]:
    wrong += [f"{file}: {w}" for w in checker.check(json.load(open(file, encoding="utf-8")), schema, "$")]
  print("\n".join(wrong) if wrong else f"{len(sys.argv) - 2} files fit {sys.argv[1]}")
  return 1 if wrong else 0


if __name__ == "__main__":
  sys.exit(main())
