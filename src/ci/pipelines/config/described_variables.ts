import type { Call } from '../../../core/access/call.ts';
import type { Variable } from '../../ci_file/config_types.ts';
import type { Code } from '../../../code/repository/find_code.ts';
import { readProjectConfig } from './ci_files.ts';
import { lint } from '../lint/lint.ts';
import { resolveNamedRef } from '../creation/named_ref.ts';

export type DescribedVariable = Variable & { description: string };

/** `problem`: why the variables cannot be read. */
export type DescribedVariables = { variables: DescribedVariable[]; problem: string | null };

const withProblem = (problem: string): DescribedVariables => ({ variables: [], problem });

const isDescribed = (variable: Variable): variable is DescribedVariable => variable.description !== undefined;

/** Loads the variables with a `description` of a ref's configuration, for the form that runs a pipeline. */
export const loadDescribedVariables = async (
  call: Call,
  code: Code,
  text: string,
): Promise<DescribedVariables> => {
  const namedRef = await resolveNamedRef(code.repository, text);
  if (namedRef === null) return withProblem('Reference not found');
  const origin = { code, commit: namedRef.sha };
  const read = await readProjectConfig(origin);
  if ('problem' in read) return withProblem('There is no configuration that can be read');
  const simulated = { ref: namedRef.ref.name, ref_type: namedRef.ref.type };
  const { variables, errors } = await lint(call, {
    content: read.text,
    origin,
    simulatedRef: simulated,
    dry_run: false,
  });
  const [first] = errors;
  return first === undefined
    ? { variables: variables.filter(isDescribed), problem: null }
    : withProblem(first.text);
};
