/** `spec:inputs` of a file's header, and `$[[ inputs.name ]]` in the rest of it. */
import { inner, knowsKeys, notSupported } from './check.ts';
import {
  type Hash,
  type Node,
  type Place,
  entryOf,
  hashNode,
  isNull,
  listNode,
  scalarNode,
  textOf,
  wordOf,
} from './node.ts';
import { CiFileError, type Problems } from './problem.ts';
import { compilePattern, splitPattern } from './pattern.ts';

type InputType = 'string' | 'number' | 'boolean' | 'array';
const types: readonly InputType[] = ['string', 'number', 'boolean', 'array'];

type Inputs = ReadonlyMap<string, Node>;

/** Where faults of a file's inputs are told: `file.yml`: ... */
export type InputsAt = { file: string; problems: Problems; place: Place };

const typeOf = (node: Node): InputType | null => {
  if (node.kind === 'list') return 'array';
  if (node.kind !== 'scalar' || node.value === null) return null;
  if (typeof node.value === 'string') return 'string';
  return typeof node.value === 'boolean' ? 'boolean' : 'number';
};

const say = ({ file, problems, place }: InputsAt, text: string): void =>
  problems.error(`\`${file}\`: ${text}`, place);

const wrongOption = (spec: Node, value: Node): boolean => {
  const options = entryOf(spec, 'options');
  if (options?.kind !== 'list' || value.kind !== 'scalar') return false;
  return !options.items.some((one) => one.kind === 'scalar' && textOf(one.value) === textOf(value.value));
};

const wrongForm = (spec: Node, value: Node): boolean => {
  const regex = wordOf(entryOf(spec, 'regex'));
  if (regex === null || value.kind !== 'scalar') return false;
  const { source, flags } = splitPattern(regex) ?? { source: regex, flags: '' };
  return compilePattern(source, flags)?.test(textOf(value.value)) !== true;
};

const problemOf = (spec: Node, value: Node): string | null => {
  const wanted = types.find((type) => type === wordOf(entryOf(spec, 'type'))) ?? 'string';
  const kind = typeOf(value);
  if (kind !== wanted) return `provided value is not ${wanted === 'array' ? 'an array' : `a ${wanted}`}`;
  if (wrongOption(spec, value)) {
    return `\`${wordOf(value)}\` cannot be used because it is not in the list of allowed options`;
  }
  return wrongForm(spec, value) ? 'provided value does not match required RegEx pattern' : null;
};

const valueOf = (at: InputsAt, name: string, spec: Node, given: Node | undefined): Node | null => {
  const absent = spec.kind === 'hash' ? spec.entries.get('default') : undefined;
  const value = given ?? absent;
  if (value === undefined) {
    say(at, `\`${name}\` input: required value has not been provided`);
    return null;
  }
  const problem = given === undefined && isNull(value) ? null : problemOf(spec, value);
  if (problem !== null) say(at, `\`${name}\` input: ${problem}`);
  return problem === null ? value : null;
};

const readInputs = (at: InputsAt, declared: Hash, given: Hash | null): Inputs | null => {
  const unknown = [...(given?.entries.keys() ?? [])].filter((name) => !declared.entries.has(name));
  if (unknown.length > 0) say(at, `unknown input arguments: ${unknown.join(', ')}`);
  const found = [...declared.entries].map(([name, spec]): [string, Node | null] => [
    name,
    valueOf(at, name, spec, given?.entries.get(name)),
  ]);
  if (unknown.length > 0 || found.some(([, value]) => value === null)) return null;
  return new Map(found.flatMap(([name, value]) => (value === null ? [] : [[name, value]])));
};

const block = /\$\[\[([^\]]{0,1000})\]\]/g;
const mostBlocks = 10_000;
const longestText = 1_048_576;

type Interpolating = { at: InputsAt; inputs: Inputs; blocks: number };

const shellEscaped = (text: string): string =>
  text === '' ? "''" : text.replaceAll(/[^\w@%+=:,./-]/g, (letter) => `\\${letter}`);

const apply = (call: string, text: string): string | null => {
  const cut = /^truncate\(\s*(\d{1,6})\s*,\s*(\d{1,6})\s*\)$/.exec(call);
  if (cut !== null) return text.slice(Number(cut[1]), Number(cut[1]) + Number(cut[2]));
  if (call === 'expand_vars') return text;
  return call === 'posix_escape' ? shellEscaped(text) : null;
};

const resolve = (state: Interpolating, inside: string): Node | null => {
  if (++state.blocks > mostBlocks) throw new CiFileError('too many interpolation blocks', state.at.place);
  const [access = '', ...calls] = inside.split('|').map((part) => part.trim());
  const name = /^inputs\.([\w-]+)$/.exec(access)?.[1];
  const value = name === undefined ? undefined : state.inputs.get(name);
  if (value === undefined) {
    say(state.at, `unknown interpolation key: \`${name ?? access}\``);
    return null;
  }
  if (calls.length === 0) return value;
  let text: string | null = wordOf(value) ?? '';
  for (const call of calls) {
    text = text === null ? null : apply(call, text);
    if (text === null) {
      say(
        state.at,
        `no function matching \`${call}\`: check that the function name, arguments, and types are correct`,
      );
      return null;
    }
  }
  return scalarNode(text, value.place);
};

const asText = (node: Node | null): string => {
  if (node === null) return '';
  if (node.kind === 'scalar') return textOf(node.value);
  return node.kind === 'list' ? JSON.stringify(node.items.map((item) => asText(item))) : '';
};

/** What a job asks of its own matrix is put in when its needs are known. */
const isOfMatrix = (inside: string): boolean => /^\s*matrix\.\w+\s*$/.test(inside);

/** A text that is nothing but one block becomes what the input is; elsewhere, its text is put in. */
const interpolateText = (state: Interpolating, text: string, place: Place): Node => {
  const whole = /^\$\[\[([^\]]{0,1000})\]\]$/.exec(text);
  if (whole !== null && !isOfMatrix(whole[1] ?? '')) {
    const found = resolve(state, whole[1] ?? '');
    return found === null ? scalarNode(text, place) : { ...found, place };
  }
  const filled = text.replace(block, (part, inside: string) =>
    isOfMatrix(inside) ? part : asText(resolve(state, inside)),
  );
  if (filled.length > longestText) throw new CiFileError('The parsed YAML is too big', place);
  return scalarNode(filled, place);
};

const interpolateNode = (state: Interpolating, node: Node): Node => {
  switch (node.kind) {
    case 'scalar':
      if (typeof node.value !== 'string' || !node.value.includes('$[[')) return node;
      return interpolateText(state, node.value, node.place);
    case 'list':
      return listNode(
        node.items.map((item) => interpolateNode(state, item)),
        node.place,
      );
    case 'hash':
      return interpolateHash(state, node);
    default:
      return node;
  }
};

const interpolateHash = (state: Interpolating, node: Hash): Node => {
  const entries = new Map<string, Node>();
  const keys = new Map<string, Place>();
  for (const [key, value] of node.entries) {
    const place = node.keys.get(key) ?? node.place;
    const name = key.includes('$[[') ? asText(interpolateText(state, key, place)) : key;
    entries.set(name, interpolateNode(state, value));
    keys.set(name, place);
  }
  return hashNode(entries, keys, node.place);
};

const specKeys = new Set(['inputs', 'include', 'component']);
const inputKeys = new Set(['default', 'description', 'options', 'regex', 'type', 'rules']);

/** What a header says that comes to nothing. */
const checkHeader = ({ problems }: InputsAt, header: Hash): void => {
  const at = inner({ where: 'header', problems }, 'spec');
  const spec = entryOf(header, 'spec');
  if (spec?.kind !== 'hash') return;
  knowsKeys(at, spec, specKeys);
  for (const key of ['include', 'component']) notSupported(at, spec, key);
  const inputs = entryOf(spec, 'inputs');
  for (const [name, input] of inputs?.kind === 'hash' ? inputs.entries : []) {
    if (input.kind !== 'hash') continue;
    const of = inner(inner(at, 'inputs'), name);
    knowsKeys(of, input, inputKeys);
    notSupported(of, input, 'rules');
  }
};

const isHeader = (node: Node | undefined): node is Hash =>
  node?.kind === 'hash' && node.entries.has('spec') && node.entries.size === 1;

/**
 * The content of a file's documents, its inputs put in. A header is a first document that says `spec` alone and is
 * followed by another: a job may be called `spec`, too.
 * @returns null: told in `problems`
 */
export const contentOf = (at: InputsAt, documents: readonly Node[], given: Hash | null): Node | null => {
  const [first, second] = documents;
  if (!isHeader(first) || second === undefined) {
    if (given !== null && given.entries.size > 0) {
      say(at, 'Given inputs not defined in the `spec` section of the included configuration file');
      return null;
    }
    return first ?? scalarNode(null, at.place);
  }
  checkHeader(at, first);
  const declared = entryOf(entryOf(first, 'spec'), 'inputs');
  if (declared !== undefined && declared.kind !== 'hash') {
    say(at, 'header:spec:inputs config should be a hash');
    return null;
  }
  const none = hashNode(new Map(), new Map(), first.place);
  const inputs = readInputs(at, declared ?? none, given);
  return inputs === null ? null : interpolateNode({ at, inputs, blocks: 0 }, second);
};
