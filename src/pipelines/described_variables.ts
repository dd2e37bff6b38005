import type { Call } from '../access/call.ts';
import type { Variable } from '../ci_file/plan_types.ts';
import type { Code } from '../repository/code.ts';
import { readProjectConfig } from './ci_files.ts';
import { lint } from './lint.ts';
import { namedRef } from './named_ref.ts';

export type Described = Variable & { description: string };

/** `problem`: why nothing can be said of them. */
export type DescribedVariables = { variables: Described[]; problem: string | null };

const none = (problem: string): DescribedVariables => ({ variables: [], problem });

const isDescribed = (variable: Variable): variable is Described => variable.description !== undefined;

/** The variables that a branch's or tag's configuration asks those for who run a pipeline of it by hand. */
export const describedVariables = async (
  call: Call,
  code: Code,
  text: string,
): Promise<DescribedVariables> => {
  const named = await namedRef(code.repository, text);
  if (named === null) return none('Reference not found');
  const origin = { code, commit: named.sha };
  const read = await readProjectConfig(origin);
  if ('problem' in read) return none('There is no configuration that can be read');
  const tried = { ref: named.ref.name, ref_type: named.ref.type };
  const { variables, errors } = await lint(call, { content: read.text, origin, tried, dry_run: false });
  const [first] = errors;
  return first === undefined ? { variables: variables.filter(isDescribed), problem: null } : none(first.text);
};
