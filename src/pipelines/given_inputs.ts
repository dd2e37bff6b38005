/** Inputs that whoever makes a pipeline gives its configuration, which says in its header what it takes. */
import { invalid } from '../errors.ts';
import { hash } from '../http/schema.ts';
import type { Project } from '../projects/find.ts';
import { type ReadLeft, configInclude } from './ci_files.ts';
import type { WantedPipeline } from './create.ts';

const mostInputs = 100;
/** Characters of all as JSON. */
const longestInputs = 65_536;

export const inputsParam = hash({}, 'what the header of the configuration asks for (`spec:inputs`)');

const fail = (text: string) => invalid({ inputs: [text] });

const isText = (value: string): boolean => value.isWellFormed() && !value.includes('\0');

const isScalar = (value: unknown): boolean =>
  typeof value === 'string' ? isText(value) : ['number', 'boolean'].includes(typeof value);

const isValue = (value: unknown): boolean =>
  Array.isArray(value) ? value.every((one) => isScalar(one)) : isScalar(value);

/**
 * As they were sent; null: none.
 * @throws Failure 400
 */
export const readInputs = (sent: unknown): Record<string, unknown> | null => {
  if (sent === undefined || sent === null || sent === '') return null;
  if (typeof sent !== 'object' || Array.isArray(sent)) throw fail('is invalid');
  const all = Object.entries(sent);
  if (all.length === 0) return null;
  if (all.length > mostInputs) throw fail(`are too many (maximum is ${mostInputs})`);
  const wrong = all.find(([name, value]) => !/^[\w-]{1,255}$/.test(name) || !isValue(value));
  if (wrong !== undefined) throw fail(`${JSON.stringify(wrong[0].slice(0, 255))} is invalid`);
  if (JSON.stringify(sent).length > longestInputs) throw fail('are too long');
  return Object.fromEntries(all);
};

const noArtifacts: ReadLeft = async () => await Promise.resolve({ problem: 'refused' });

/** What reads as a configuration that includes these. */
export const including = (include: readonly unknown[]): string => JSON.stringify({ include });

/** The project's own configuration, which is given what it asks for. */
export const withInputs = (project: Project, inputs: unknown): Pick<WantedPipeline, 'part'> =>
  inputs === null
    ? {}
    : { part: { content: including([{ ...configInclude(project), inputs }]), left: noArtifacts } };
