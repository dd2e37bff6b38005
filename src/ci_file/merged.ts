/** The tree as YAML again, as the lint shows it: what was included, extended and referenced is in its place. */
import { Document, Pair, Scalar, YAMLMap, YAMLSeq } from 'yaml';
import type { Node, ScalarValue } from './node.ts';
import { psychScalar } from './psych.ts';

const scalar = (value: ScalarValue): Scalar => {
  const node = new Scalar<unknown>(value);
  if (typeof value === 'number') node.minFractionDigits = 1;
  // What would be read as something else without quotes.
  if (typeof value === 'string' && !value.includes('\n') && psychScalar(value) !== value) {
    node.type = Scalar.QUOTE_DOUBLE;
  }
  return node;
};

const yamlNode = (node: Node): Scalar | YAMLMap | YAMLSeq => {
  if (node.kind === 'scalar') return scalar(node.value);
  if (node.kind === 'reference') return scalar(null);
  if (node.kind === 'list') {
    const list = new YAMLSeq();
    list.items = node.items.map(yamlNode);
    return list;
  }
  const map = new YAMLMap();
  map.items = [...node.entries].map(([key, value]) => new Pair(scalar(key), yamlNode(value)));
  return map;
};

export const mergedYaml = (root: Node): string => {
  const document = new Document(null, { version: '1.1' });
  document.contents = yamlNode(root) as never;
  return `---\n${document.toString({ lineWidth: 0, nullStr: 'null' }).replace(/^%YAML.*\n---\n/, '')}`;
};
