/** Resolves `spec:inputs` of a file's header, and `$[[ inputs.name ]]` in the rest of the file. */
import { inner, checkKeys, rejectUnsupported } from './typed_values.ts';
import {
  type Hash,
  type Node,
  getEntry,
  hashNode,
  isNull,
  listNode,
  scalarNode,
  toScalarText,
  getScalarText,
} from '../syntax/node.ts';
import type { SourcePosition } from '../syntax/source_position.ts';
import { CiFileError, type Problems } from '../syntax/problems.ts';
import { compilePattern, splitPattern } from '../../../platform/pattern.ts';

type InputType = 'string' | 'number' | 'boolean' | 'array';
const types: readonly InputType[] = ['string', 'number', 'boolean', 'array'];

type Inputs = ReadonlyMap<string, Node>;

/** Where input errors of a file are reported. */
export type InputsAt = { file: string; problems: Problems; position: SourcePosition };

const getType = (node: Node): InputType | null => {
  if (node.kind === 'list') return 'array';
  if (node.kind !== 'scalar' || node.value === null) return null;
  if (typeof node.value === 'string') return 'string';
  return typeof node.value === 'boolean' ? 'boolean' : 'number';
};

const reportInputError = ({ file, problems, position }: InputsAt, text: string): void =>
  problems.error(`\`${file}\`: ${text}`, position);

const isOptionMissing = (spec: Node, value: Node): boolean => {
  const options = getEntry(spec, 'options');
  if (options?.kind !== 'list' || value.kind !== 'scalar') return false;
  return !options.items.some(
    (one) => one.kind === 'scalar' && toScalarText(one.value) === toScalarText(value.value),
  );
};

const violatesPattern = (spec: Node, value: Node): boolean => {
  const regex = getScalarText(getEntry(spec, 'regex'));
  if (regex === null || value.kind !== 'scalar') return false;
  const { source, flags } = splitPattern(regex) ?? { source: regex, flags: '' };
  return compilePattern(source, flags)?.test(toScalarText(value.value)) !== true;
};

const findProblem = (spec: Node, value: Node): string | null => {
  const expected = types.find((type) => type === getScalarText(getEntry(spec, 'type'))) ?? 'string';
  const kind = getType(value);
  if (kind !== expected)
    return `provided value is not ${expected === 'array' ? 'an array' : `a ${expected}`}`;
  if (isOptionMissing(spec, value)) {
    return `\`${getScalarText(value)}\` cannot be used because it is not in the list of allowed options`;
  }
  return violatesPattern(spec, value) ? 'provided value does not match required RegEx pattern' : null;
};

const resolveValue = (at: InputsAt, name: string, spec: Node, provided: Node | undefined): Node | null => {
  const fallback = spec.kind === 'hash' ? spec.entries.get('default') : undefined;
  const value = provided ?? fallback;
  if (value === undefined) {
    reportInputError(at, `\`${name}\` input: required value has not been provided`);
    return null;
  }
  const problem = provided === undefined && isNull(value) ? null : findProblem(spec, value);
  if (problem !== null) reportInputError(at, `\`${name}\` input: ${problem}`);
  return problem === null ? value : null;
};

const resolveInputs = (at: InputsAt, declared: Hash, provided: Hash | null): Inputs | null => {
  const unknown = [...(provided?.entries.keys() ?? [])].filter((name) => !declared.entries.has(name));
  if (unknown.length > 0) reportInputError(at, `unknown input arguments: ${unknown.join(', ')}`);
  const values = [...declared.entries].map(([name, spec]): [string, Node | null] => [
    name,
    resolveValue(at, name, spec, provided?.entries.get(name)),
  ]);
  if (unknown.length > 0 || values.some(([, value]) => value === null)) return null;
  return new Map(values.flatMap(([name, value]) => (value === null ? [] : [[name, value]])));
};

const block = /\$\[\[([^\]]{0,1000})\]\]/g;
const maxBlocks = 10_000;
const maxTextLength = 1_048_576;

type InterpolationState = { at: InputsAt; inputs: Inputs; blocks: number };

const shellEscaped = (text: string): string =>
  text === '' ? "''" : text.replaceAll(/[^\w@%+=:,./-]/g, (letter) => `\\${letter}`);

const applyFunction = (call: string, text: string): string | null => {
  const cut = /^truncate\(\s*(\d{1,6})\s*,\s*(\d{1,6})\s*\)$/.exec(call);
  if (cut !== null) return text.slice(Number(cut[1]), Number(cut[1]) + Number(cut[2]));
  if (call === 'expand_vars') return text;
  return call === 'posix_escape' ? shellEscaped(text) : null;
};

const resolveBlock = (state: InterpolationState, inside: string): Node | null => {
  if (++state.blocks > maxBlocks) throw new CiFileError('too many interpolation blocks', state.at.position);
  const [access = '', ...calls] = inside.split('|').map((part) => part.trim());
  const name = /^inputs\.([\w-]+)$/.exec(access)?.[1];
  const value = name === undefined ? undefined : state.inputs.get(name);
  if (value === undefined) {
    reportInputError(state.at, `unknown interpolation key: \`${name ?? access}\``);
    return null;
  }
  if (calls.length === 0) return value;
  let text: string | null = getScalarText(value) ?? '';
  for (const call of calls) {
    text = text === null ? null : applyFunction(call, text);
    if (text === null) {
      reportInputError(
        state.at,
        `no function matching \`${call}\`: check that the function name, arguments, and types are correct`,
      );
      return null;
    }
  }
  return scalarNode(text, value.position);
};

const toText = (node: Node | null): string => {
  if (node === null) return '';
  if (node.kind === 'scalar') return toScalarText(node.value);
  return node.kind === 'list' ? JSON.stringify(node.items.map((item) => toText(item))) : '';
};

/** References to a job's own matrix are resolved later, with its needs. */
const isMatrixReference = (inside: string): boolean => /^\s*matrix\.\w+\s*$/.test(inside);

/** Replaces blocks in a text. A text that is a single block becomes the input's value with its type. */
const interpolateText = (state: InterpolationState, text: string, position: SourcePosition): Node => {
  const whole = /^\$\[\[([^\]]{0,1000})\]\]$/.exec(text);
  if (whole !== null && !isMatrixReference(whole[1] ?? '')) {
    const values = resolveBlock(state, whole[1] ?? '');
    return values === null ? scalarNode(text, position) : { ...values, position };
  }
  const filled = text.replace(block, (part, inside: string) =>
    isMatrixReference(inside) ? part : toText(resolveBlock(state, inside)),
  );
  if (filled.length > maxTextLength) throw new CiFileError('The parsed YAML is too big', position);
  return scalarNode(filled, position);
};

const interpolateNode = (state: InterpolationState, node: Node): Node => {
  switch (node.kind) {
    case 'scalar':
      if (typeof node.value !== 'string' || !node.value.includes('$[[')) return node;
      return interpolateText(state, node.value, node.position);
    case 'list':
      return listNode(
        node.items.map((item) => interpolateNode(state, item)),
        node.position,
      );
    case 'hash':
      return interpolateHash(state, node);
    default:
      return node;
  }
};

const interpolateHash = (state: InterpolationState, node: Hash): Node => {
  const entries = new Map<string, Node>();
  const keys = new Map<string, SourcePosition>();
  for (const [key, value] of node.entries) {
    const position = node.keys.get(key) ?? node.position;
    const name = key.includes('$[[') ? toText(interpolateText(state, key, position)) : key;
    entries.set(name, interpolateNode(state, value));
    keys.set(name, position);
  }
  return hashNode(entries, keys, node.position);
};

export const specKeys = new Set(['inputs', 'include', 'component']);
export const inputKeys = new Set(['default', 'description', 'options', 'regex', 'type', 'rules']);

/** Reports header keys that are unknown or not supported. */
const checkHeader = ({ problems }: InputsAt, header: Hash): void => {
  const at = inner({ where: 'header', problems }, 'spec');
  const spec = getEntry(header, 'spec');
  if (spec?.kind !== 'hash') return;
  checkKeys(at, spec, specKeys);
  for (const key of ['include', 'component']) rejectUnsupported(at, spec, key);
  const inputs = getEntry(spec, 'inputs');
  for (const [name, input] of inputs?.kind === 'hash' ? inputs.entries : []) {
    if (input.kind !== 'hash') continue;
    const inputAt = inner(inner(at, 'inputs'), name);
    checkKeys(inputAt, input, inputKeys);
    rejectUnsupported(inputAt, input, 'rules');
  }
};

const isHeader = (node: Node | undefined): node is Hash =>
  node?.kind === 'hash' && node.entries.has('spec') && node.entries.size === 1;

/**
 * Returns the content of a file with its inputs applied. A header is a first document with only `spec`, followed by
 * another document, because a job may be called `spec`, too.
 * @returns null if errors were reported in `problems`
 */
export const applyInputs = (at: InputsAt, documents: readonly Node[], provided: Hash | null): Node | null => {
  const [first, second] = documents;
  if (!isHeader(first) || second === undefined) {
    if (provided !== null && provided.entries.size > 0) {
      reportInputError(
        at,
        'Given inputs not defined in the `spec` section of the included configuration file',
      );
      return null;
    }
    return first ?? scalarNode(null, at.position);
  }
  checkHeader(at, first);
  const declared = getEntry(getEntry(first, 'spec'), 'inputs');
  if (declared !== undefined && declared.kind !== 'hash') {
    reportInputError(at, 'header:spec:inputs config should be a hash');
    return null;
  }
  const none = hashNode(new Map(), new Map(), first.position);
  const inputs = resolveInputs(at, declared ?? none, provided);
  return inputs === null ? null : interpolateNode({ at, inputs, blocks: 0 }, second);
};
