/** `include`: other files, merged below the one that names them. */
import { type Conditions, type Work, factsFor } from './conditions.ts';
import { ruleHolds } from './decide.ts';
import { type Values, expand } from './expand.ts';
import { contentOf } from './inputs.ts';
import { type Limits, pastLimit } from './limits.ts';
import { loadYaml } from './load.ts';
import { deepMerge, emptyHash, withoutKey } from './merge.ts';
import { type Hash, type Node, type Place, entryOf, keyPlace, plainOf, stringOf } from './node.ts';
import { type Fetch, type IncludedFile, type Wanted, problemText, wantedOf } from './include_wanted.ts';
import type { Included } from './plan_types.ts';
import { CiFileError, type Problems } from './problem.ts';
import { rulesOf } from './rules.ts';

const mostFiles = 150;
const yamlName = /\.ya?ml$/i;

export type Including = {
  fetch: Fetch;
  conditions: Conditions;
  problems: Problems;
  includes: Included[];
  work: Work;
  limits: Limits;
  files: number;
  text: number;
};

/** A file that includes others. `chain`: those that led to it. */
type From = { name: string; origin: unknown; chain: readonly string[] };

const valuesOf = ({ predefined, variables }: Conditions): Values => ({ ...predefined, ...variables });

const isWanted = async (state: Including, entry: Hash): Promise<boolean> => {
  const rules = rulesOf(
    { where: 'include:rules', problems: state.problems },
    entryOf(entry, 'rules'),
    'include',
  );
  if (rules === null) return true;
  const facts = await factsFor(state.conditions, rules);
  const values = valuesOf(state.conditions);
  const first = rules.find((rule) => ruleHolds(rule, { facts, values, work: state.work }));
  return first !== undefined && first.when !== 'never';
};

const entriesOf = (node: Node, problems: Problems): Node[] => {
  if (node.kind === 'hash' || stringOf(node) !== null) return [node];
  if (node.kind === 'list') return node.items.flatMap((item) => (item.kind === 'list' ? item.items : [item]));
  problems.error('include config should be a hash or a string', node.place);
  return [];
};

const count = (state: Including, length: number, place: Place): void => {
  state.files++;
  state.text += length;
  if (state.files > mostFiles)
    throw new CiFileError(`Maximum of ${mostFiles} nested includes are allowed!`, place);
  if (state.text > state.limits.text) throw pastLimit(state.limits, place);
};

type Entry = { wanted: Wanted; inputs: Hash | null; place: Place };

/** The file's content, its own includes already below it; null: told. */
const readFile = async (
  state: Including,
  from: From,
  { wanted, inputs, place }: Entry,
  file: IncludedFile,
) => {
  const { problems } = state;
  count(state, file.text.length, place);
  const name = problemText.nameOf(wanted, file.name);
  if (!yamlName.test(file.name)) problems.error(problemText.extension(file.name), place);
  else if (file.text.trim() === '') problems.error(`${name} is empty!`, place);
  else if (from.chain.includes(file.name)) problems.error(`${name} includes itself!`, place);
  else {
    const documents = loadYaml(file.name, file.text, problems);
    const content = documents && contentOf({ file: file.name, problems, place }, documents, inputs);
    if (content === null || content.kind === 'hash')
      return await withIncludes(state, content, {
        name: file.name,
        origin: file.origin,
        chain: [...from.chain, file.name],
      });
    problems.error(`Included file \`${file.name}\` does not have valid YAML syntax!`, place);
  }
  return null;
};

const readEntry = async (state: Including, from: From, entry: Entry): Promise<Hash[]> => {
  const { problems, fetch, includes } = state;
  const { wanted, place } = entry;
  const fetched = await fetch(wanted, from.origin);
  if ('problem' in fetched) {
    problems.error(problemText.of(wanted, fetched.problem), place);
    return [];
  }
  const read: Hash[] = [];
  for (const file of fetched.files) {
    includes.push({
      type: wanted.type,
      location: file.name,
      extra: problemText.extraOf(wanted),
      from: from.name,
    });
    // One after another: the limits count them in their order.
    // oxlint-disable-next-line no-await-in-loop
    const content = await readFile(state, from, entry, file);
    if (content !== null) read.push(content);
  }
  return read;
};

const entriesWanted = async (state: Including, node: Node): Promise<Entry[]> => {
  const values = valuesOf(state.conditions);
  if (node.kind === 'hash' && !(await isWanted(state, node))) return [];
  const wanted = wantedOf(node, (text) => expand(text, values));
  if (wanted === null) {
    const shown = JSON.stringify(plainOf(node));
    state.problems.error(`\`${shown}\` ${problemText.noKey}`, node.place);
    return [];
  }
  const inputs = entryOf(node, 'inputs');
  return wanted.map((one) => ({
    wanted: one,
    inputs: inputs?.kind === 'hash' ? inputs : null,
    place: node.place,
  }));
};

/** The content with all that it includes below it. */
export const withIncludes = async (
  state: Including,
  content: Hash | null,
  from: From,
): Promise<Hash | null> => {
  const node = content === null ? undefined : entryOf(content, 'include');
  if (content === null || node === undefined) return content;
  const place = keyPlace(content, 'include');
  let below = emptyHash(place);
  for (const entry of entriesOf(node, state.problems)) {
    // oxlint-disable-next-line no-await-in-loop
    for (const wanted of await entriesWanted(state, entry)) {
      // oxlint-disable-next-line no-await-in-loop
      for (const read of await readEntry(state, from, wanted)) below = deepMerge(below, read);
    }
  }
  return deepMerge(below, withoutKey(content, 'include'));
};
