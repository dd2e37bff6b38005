/** Parses the pipeline variables of a push: `git push -o ci.variable="KEY=value"`. Pure. */
import { getAssignment, isVariableOption } from '../../../code/repository/refs/ci_push_options.ts';
import { type PipelineVariable, findVariableProblems } from './pipeline_variables.ts';

/**
 * Parses `ci.variable` push options. The last value of a repeated key wins.
 * @returns no variables if there are problems
 */
export const parsePushVariables = (
  options: readonly string[],
): { variables: PipelineVariable[]; problems: string[] } => {
  const assignments = options.filter(isVariableOption).map(getAssignment);
  const values = new Map<string, string>();
  for (const text of assignments) {
    const [, key = '', value = ''] = /^([^=]*)=?(.*)$/s.exec(text) ?? [];
    values.set(key, value);
  }
  const variables = [...values].map(([key, value]): PipelineVariable => {
    return { key, value, variable_type: 'env_var', raw: false };
  });
  const hasMalformed = assignments.some((text) => !/^[^=]+=/.test(text));
  const problems = hasMalformed
    ? ["Invalid push option 'ci.variable': expected ci.variable=KEY=value."]
    : findVariableProblems(variables).map((text) => `The push option 'ci.variable': ${text}`);
  return { variables: problems.length === 0 ? variables : [], problems };
};
