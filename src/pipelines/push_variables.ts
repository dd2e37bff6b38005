/** Variables for the pipeline of a push: `git push -o ci.variable="KEY=value"`. Pure. */
import { assignmentIn, isVariable } from '../repository/ci_push_options.ts';
import { type GivenVariable, givenProblems } from './given_variables.ts';

/**
 * Of a key that is named twice, the last value counts.
 * @returns no variables where there are problems
 */
export const pushVariables = (
  options: readonly string[],
): { variables: GivenVariable[]; problems: string[] } => {
  const assignments = options.filter(isVariable).map(assignmentIn);
  const values = new Map<string, string>();
  for (const text of assignments) {
    const [, key = '', value = ''] = /^([^=]*)=?(.*)$/s.exec(text) ?? [];
    values.set(key, value);
  }
  const variables = [...values].map(([key, value]): GivenVariable => {
    return { key, value, variable_type: 'env_var', raw: false };
  });
  const isIncomplete = assignments.some((text) => !/^[^=]+=/.test(text));
  const problems = isIncomplete
    ? ["The push option 'ci.variable' has the form ci.variable=KEY=value."]
    : givenProblems(variables).map((text) => `The push option 'ci.variable': ${text}`);
  return { variables: problems.length === 0 ? variables : [], problems };
};
