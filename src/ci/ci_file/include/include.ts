/** Resolves `include`: merges included files below the file that includes them. */
import { type Conditions, type Budget, collectFacts } from '../conditions.ts';
import { matchesRule } from '../evaluate_rules.ts';
import { type Values, expandVariables } from '../syntax/expand_variables.ts';
import { applyInputs } from '../keywords/inputs.ts';
import { type Limits, limitError } from '../syntax/limits.ts';
import { loadYaml } from '../syntax/load_yaml.ts';
import { deepMerge, emptyHash, withoutKey } from '../syntax/merge_hashes.ts';
import { type Hash, type Node, getEntry, getKeyPosition, toPlainValue, getString } from '../syntax/node.ts';
import type { SourcePosition } from '../syntax/source_position.ts';
import {
  type Fetch,
  type IncludedFile,
  type IncludeTarget,
  includeProblems,
  parseIncludeEntry,
} from './included_files.ts';
import type { Included } from '../config_types.ts';
import { CiFileError, type Problems } from '../syntax/problems.ts';
import { parseRules } from '../keywords/rules.ts';

const maxFiles = 150;
const yamlName = /\.ya?ml$/i;

export type IncludeState = {
  fetch: Fetch;
  conditions: Conditions;
  problems: Problems;
  includes: Included[];
  budget: Budget;
  limits: Limits;
  files: number;
  text: number;
};

/** A file that includes others. `chain`: the files that led to it. */
type IncludingFile = { name: string; origin: unknown; chain: readonly string[] };

const getValues = ({ predefined, variables }: Conditions): Values => ({ ...predefined, ...variables });

const isIncluded = async (state: IncludeState, entry: Hash): Promise<boolean> => {
  const rules = parseRules(
    { where: 'include:rules', problems: state.problems },
    getEntry(entry, 'rules'),
    'include',
  );
  if (rules === null) return true;
  const facts = await collectFacts(state.conditions, rules);
  const values = getValues(state.conditions);
  const first = rules.find((rule) => matchesRule(rule, { facts, values, budget: state.budget }));
  return first !== undefined && first.when !== 'never';
};

const listEntries = (node: Node, problems: Problems): Node[] => {
  if (node.kind === 'hash' || getString(node) !== null) return [node];
  if (node.kind === 'list') return node.items.flatMap((item) => (item.kind === 'list' ? item.items : [item]));
  problems.error('include config should be a hash or a string', node.position);
  return [];
};

const countFile = (state: IncludeState, length: number, position: SourcePosition): void => {
  state.files++;
  state.text += length;
  if (state.files > maxFiles)
    throw new CiFileError(`Maximum of ${maxFiles} nested includes are allowed!`, position);
  if (state.text > state.limits.text) throw limitError(state.limits, position);
};

type IncludeEntry = { target: IncludeTarget; inputs: Hash | null; position: SourcePosition };

/** Loads a file with its own includes merged. null if errors were reported. */
const loadFile = async (
  state: IncludeState,
  from: IncludingFile,
  { target, inputs, position }: IncludeEntry,
  file: IncludedFile,
) => {
  const { problems } = state;
  countFile(state, file.text.length, position);
  const name = includeProblems.describeFile(target, file.name);
  if (!yamlName.test(file.name)) problems.error(includeProblems.extension(file.name), position);
  else if (file.text.trim() === '') problems.error(`${name} is empty!`, position);
  else if (from.chain.includes(file.name)) problems.error(`${name} includes itself!`, position);
  else {
    const documents = loadYaml(file.name, file.text, problems);
    const content = documents && applyInputs({ file: file.name, problems, position }, documents, inputs);
    if (content === null || content.kind === 'hash')
      return await resolveIncludes(state, content, {
        name: file.name,
        origin: file.origin,
        chain: [...from.chain, file.name],
      });
    problems.error(`Included file \`${file.name}\` does not have valid YAML syntax!`, position);
  }
  return null;
};

const loadEntry = async (state: IncludeState, from: IncludingFile, entry: IncludeEntry): Promise<Hash[]> => {
  const { problems, fetch, includes } = state;
  const { target, position } = entry;
  const fetched = await fetch(target, from.origin);
  if ('problem' in fetched) {
    problems.error(includeProblems.getText(target, fetched.problem), position);
    return [];
  }
  const contents: Hash[] = [];
  for (const file of fetched.files) {
    includes.push({
      type: target.type,
      location: file.name,
      extra: includeProblems.getExtra(target),
      from: from.name,
    });
    // Sequential, because the limits count files in order.
    const content = await loadFile(state, from, entry, file);
    if (content !== null) contents.push(content);
  }
  return contents;
};

const parseEntries = async (state: IncludeState, node: Node): Promise<IncludeEntry[]> => {
  const values = getValues(state.conditions);
  if (node.kind === 'hash' && !(await isIncluded(state, node))) return [];
  const target = parseIncludeEntry(node, (text) => expandVariables(text, values));
  if (target === null) {
    const json = JSON.stringify(toPlainValue(node));
    state.problems.error(`\`${json}\` ${includeProblems.noKey}`, node.position);
    return [];
  }
  const inputs = getEntry(node, 'inputs');
  return target.map((one) => ({
    target: one,
    inputs: inputs?.kind === 'hash' ? inputs : null,
    position: node.position,
  }));
};

/** Returns the content with all of its includes merged below it. */
export const resolveIncludes = async (
  state: IncludeState,
  content: Hash | null,
  from: IncludingFile,
): Promise<Hash | null> => {
  const node = content === null ? undefined : getEntry(content, 'include');
  if (content === null || node === undefined) return content;
  const position = getKeyPosition(content, 'include');
  let included = emptyHash(position);
  for (const entry of listEntries(node, state.problems)) {
    for (const target of await parseEntries(state, entry)) {
      for (const contents of await loadEntry(state, from, target)) included = deepMerge(included, contents);
    }
  }
  return deepMerge(included, withoutKey(content, 'include'));
};
