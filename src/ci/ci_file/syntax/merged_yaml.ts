/** Renders the tree as YAML for the lint, with includes, `extends` and references resolved. */
import { Document, Pair, Scalar, YAMLMap, YAMLSeq } from 'yaml';
import type { Node, ScalarValue } from './node.ts';
import { parsePsychScalar } from './psych_scalars.ts';

const toYamlScalar = (value: ScalarValue): Scalar => {
  const node = new Scalar<unknown>(value);
  if (typeof value === 'number') node.minFractionDigits = 1;
  // Quoted if it would otherwise be read as another type.
  if (typeof value === 'string' && !value.includes('\n') && parsePsychScalar(value) !== value) {
    node.type = Scalar.QUOTE_DOUBLE;
  }
  return node;
};

const toYamlNode = (node: Node): Scalar | YAMLMap | YAMLSeq => {
  if (node.kind === 'scalar') return toYamlScalar(node.value);
  if (node.kind === 'reference') return toYamlScalar(null);
  if (node.kind === 'list') {
    const list = new YAMLSeq();
    list.items = node.items.map(toYamlNode);
    return list;
  }
  const map = new YAMLMap();
  map.items = [...node.entries].map(([key, value]) => new Pair(toYamlScalar(key), toYamlNode(value)));
  return map;
};

export const toMergedYaml = (root: Node): string => {
  const document = new Document(null, { version: '1.1' });
  document.contents = toYamlNode(root) as never;
  return `---\n${document.toString({ lineWidth: 0, nullStr: 'null' }).replace(/^%YAML.*\n---\n/, '')}`;
};
