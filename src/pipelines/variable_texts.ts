/** The JSON of variables that many jobs have: made once. */
import type { JobVariable } from './job_predefined.ts';

const texts = new WeakMap<JobVariable, string>();

/** Says that these go to many jobs. Nobody changes them. */
export const shared = (variables: JobVariable[]): JobVariable[] => {
  for (const variable of variables) texts.set(variable, JSON.stringify(variable));
  return variables;
};

/** A JSON array. */
export const variablesText = (variables: readonly JobVariable[]): string =>
  `[${variables.map((variable) => texts.get(variable) ?? JSON.stringify(variable)).join()}]`;
