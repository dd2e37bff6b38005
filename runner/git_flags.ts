/** Options of git that jobs may choose: none that names a program, a file or another repository. */
import type { Trace } from './trace.ts';
import type { Values } from './variables.ts';

const wordsOf = (text: string | undefined): string[] =>
  (text ?? '').split(/\s+/).filter((word) => word !== '');

const fetchOptions =
  /^(?:-[pqtvf]|--(?:no-)?(?:prune|prune-tags|tags|show-forced-updates|auto-gc)|--(?:quiet|verbose|force|progress|update-shallow|atomic)|--jobs=\d{1,2}|--shallow-since=[\w:.+-]+)$/;
const submoduleOptions =
  /^(?:-[fq]|--(?:remote|force|checkout|quiet|progress|single-branch|no-single-branch)|--jobs=\d{1,2}|-j\d{1,2})$/;

const allowed = (name: string, values: Values, options: RegExp, trace: Pick<Trace, 'say'>): string[] => {
  // A number may stand by itself.
  const words = wordsOf(
    values.get(name)?.replaceAll(/(^|\s)(?:--jobs|-j)\s+(\d{1,2})(?=\s|$)/g, '$1--jobs=$2'),
  );
  const refused = words.filter((word) => !options.test(word));
  if (refused.length > 0) trace.say(`WARNING: ${name}: ${refused.join(' ')} is left out`, 'yellow');
  return words.filter((word) => options.test(word));
};

export const fetchFlags = (values: Values, trace: Pick<Trace, 'say'>): string[] =>
  allowed('GIT_FETCH_EXTRA_FLAGS', values, fetchOptions, trace);

export const submoduleFlags = (values: Values, trace: Pick<Trace, 'say'>): string[] =>
  allowed('GIT_SUBMODULE_UPDATE_FLAGS', values, submoduleOptions, trace);

/** Null: nothing is cleaned. */
export const cleanFlags = (values: Values): string[] | null => {
  const text = values.get('GIT_CLEAN_FLAGS')?.trim() || '-ffdx';
  return text === 'none' ? null : wordsOf(text).filter((word) => word !== '-i' && word !== '--interactive');
};

/** Which submodules; empty: all. */
export const submodulePaths = (values: Values): string[] => wordsOf(values.get('GIT_SUBMODULE_PATHS'));
