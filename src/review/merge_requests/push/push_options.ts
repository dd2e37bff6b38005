/** Parses push options for merge requests: `git push -o merge_request.create -o merge_request.title="..."`. Pure. */

export type RequestOptions = {
  create: boolean;
  target?: string;
  target_project?: string;
  title?: string;
  description?: string;
  milestone?: string;
  draft: boolean;
  remove_source_branch?: true;
  squash?: true;
  merge_when_pipeline_succeeds?: true;
  label: string[];
  unlabel: string[];
  assign: string[];
  unassign: string[];
};

const texts = new Set(['target', 'target_project', 'title', 'description', 'milestone'] as const);
const lists = new Set(['label', 'unlabel', 'assign', 'unassign'] as const);
const flags = new Set([
  'create',
  'draft',
  'remove_source_branch',
  'squash',
  'merge_when_pipeline_succeeds',
] as const);

const has = <T extends string>(names: ReadonlySet<T>, name: string): name is T => names.has(name as T);

const prefix = 'merge_request.';

/**
 * Parses the push options for merge requests; `options` is null if there are none.
 * @returns `problems`: a message for each invalid option
 */
export const parseRequestOptions = (
  pushOptions: readonly string[],
): { options: RequestOptions | null; problems: string[] } => {
  const options: RequestOptions = {
    create: false,
    draft: false,
    label: [],
    unlabel: [],
    assign: [],
    unassign: [],
  };
  const problems: string[] = [];
  let hasOptions = false;
  for (const text of pushOptions) {
    if (!text.startsWith(prefix)) continue;
    const [, rawName = '', value] = /^([^=]*)(?:=(.*))?$/s.exec(text.slice(prefix.length)) ?? [];
    const name = rawName === 'auto_merge' ? 'merge_when_pipeline_succeeds' : rawName;
    const isEmpty = value === undefined || value === '';
    if (has(flags, name)) options[name] = true;
    else if (!has(texts, name) && !has(lists, name))
      problems.push(`The push option '${prefix}${name}' is not supported.`);
    else if (isEmpty) problems.push(`The push option '${prefix}${name}' needs a value.`);
    // Push options cannot contain newlines, so clients write `\n` as two characters.
    else if (has(texts, name)) options[name] = name === 'description' ? value.replaceAll('\\n', '\n') : value;
    else options[name].push(value);
    hasOptions = true;
  }
  return { options: hasOptions ? options : null, problems };
};
