/** Fills the templates of merge and squash commits. Pure. */
import type { NamedIssue } from '../issues/closing_references.ts';

export const defaultMergeTemplate = `Merge branch '%{source_branch}' into '%{target_branch}'

%{title}

%{issues}

See merge request %{reference}`;

export const defaultSquashTemplate = '%{title}';

const variable = /%\{(\w+)\}/g;
/** A line of nothing but variables. */
const variablesAlone = /^(?:\s*%\{\w+\})+\s*$/;

/** Returns the names of the variables in a template. */
export const variablesIn = (template: string): string[] =>
  [...template.matchAll(variable)].map(([, name = '']) => name);

/**
 * Replaces the variables of a template; unknown variables are kept. A line whose variables are all empty is removed,
 * with the blank line before it.
 */
export const fillTemplate = (template: string, values: ReadonlyMap<string, string>): string => {
  const lines: string[] = [];
  for (const line of template.replaceAll('\r\n', '\n').split('\n')) {
    const filled = line.replaceAll(variable, (whole, name: string) => values.get(name) ?? whole);
    if (variablesAlone.test(line) && filled.trim() === '') {
      if (lines.at(-1) === '') lines.pop();
    } else lines.push(filled);
  }
  return lines.join('\n').trim();
};

const sentence = (words: string[]): string => {
  const last = words.at(-1) ?? '';
  if (words.length <= 1) return last;
  return `${words.slice(0, -1).join(', ')}${words.length > 2 ? ',' : ''} and ${last}`;
};

/** `Closes #1 and group/project#2`; `''` for none. */
export const closingLine = (project: { id: number }, issues: readonly NamedIssue[]): string => {
  if (issues.length === 0) return '';
  const names = issues.map(({ project_id, full_path, iid }) =>
    project_id === project.id ? `#${iid}` : `${full_path}#${iid}`,
  );
  return `Closes ${sentence(names)}`;
};
