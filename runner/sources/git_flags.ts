/** Selects the git options that jobs may set. None of them can name a program, a file or another repository. */
import type { JobLog } from '../log/job_log.ts';
import type { Values } from '../job_variables.ts';

const splitWords = (text: string | undefined): string[] =>
  (text ?? '').split(/\s+/).filter((word) => word !== '');

const fetchOptions =
  /^(?:-[pqtvf]|--(?:no-)?(?:prune|prune-tags|tags|show-forced-updates|auto-gc)|--(?:quiet|verbose|force|progress|update-shallow|atomic)|--jobs=\d{1,2}|--shallow-since=[\w:.+-]+)$/;
const submoduleOptions =
  /^(?:-[fq]|--(?:remote|force|checkout|quiet|progress|single-branch|no-single-branch)|--jobs=\d{1,2}|-j\d{1,2})$/;

const filterOptions = (
  name: string,
  values: Values,
  options: RegExp,
  trace: Pick<JobLog, 'say'>,
): string[] => {
  // Join `--jobs 4` and `-j 4` into one word.
  const args = splitWords(
    values.get(name)?.replaceAll(/(^|\s)(?:--jobs|-j)\s+(\d{1,2})(?=\s|$)/g, '$1--jobs=$2'),
  );
  const refused = args.filter((word) => !options.test(word));
  if (refused.length > 0) trace.say(`WARNING: ${name}: ${refused.join(' ')} is left out`, 'yellow');
  return args.filter((word) => options.test(word));
};

export const fetchFlags = (values: Values, trace: Pick<JobLog, 'say'>): string[] =>
  filterOptions('GIT_FETCH_EXTRA_FLAGS', values, fetchOptions, trace);

export const submoduleFlags = (values: Values, trace: Pick<JobLog, 'say'>): string[] =>
  filterOptions('GIT_SUBMODULE_UPDATE_FLAGS', values, submoduleOptions, trace);

/** Returns the options of `git clean`; null: do not clean. */
export const cleanFlags = (values: Values): string[] | null => {
  const text = values.get('GIT_CLEAN_FLAGS')?.trim() || '-ffdx';
  return text === 'none'
    ? null
    : splitWords(text).filter((word) => word !== '-i' && word !== '--interactive');
};

/** Returns the paths of the submodules to fetch; empty: all. */
export const submodulePaths = (values: Values): string[] => splitWords(values.get('GIT_SUBMODULE_PATHS'));
