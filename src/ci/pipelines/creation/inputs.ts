/** Validates the inputs of a pipeline, whose configuration declares them in `spec:inputs`. */
import { invalid } from '../../../platform/errors.ts';
import { hash } from '../../../platform/http/schema.ts';
import type { Project } from '../../../projects/projects/find.ts';
import { type ReadArtifactText, toConfigInclude } from '../config/ci_files.ts';
import type { PipelineRequest } from './create_pipeline.ts';

const maxInputs = 100;
/** Characters of all inputs as JSON. */
const maxInputsLength = 65_536;

export const inputsParam = hash({}, 'values of the inputs declared in `spec:inputs`');

const invalidInputs = (text: string) => invalid({ inputs: [text] });

const isText = (value: string): boolean => value.isWellFormed() && !value.includes('\0');

const isScalar = (value: unknown): boolean =>
  typeof value === 'string' ? isText(value) : ['number', 'boolean'].includes(typeof value);

const isValue = (value: unknown): boolean =>
  Array.isArray(value) ? value.every((one) => isScalar(one)) : isScalar(value);

/**
 * Validates inputs and returns them unchanged; null if there are none.
 * @throws Failure 400
 */
export const parseInputs = (sent: unknown): Record<string, unknown> | null => {
  if (sent === undefined || sent === null || sent === '') return null;
  if (typeof sent !== 'object' || Array.isArray(sent)) throw invalidInputs('is invalid');
  const entries = Object.entries(sent);
  if (entries.length === 0) return null;
  if (entries.length > maxInputs) throw invalidInputs(`are too many (maximum is ${maxInputs})`);
  const invalidEntry = entries.find(([name, value]) => !/^[\w-]{1,255}$/.test(name) || !isValue(value));
  if (invalidEntry !== undefined)
    throw invalidInputs(`${JSON.stringify(invalidEntry[0].slice(0, 255))} is invalid`);
  if (JSON.stringify(sent).length > maxInputsLength) throw invalidInputs('are too long');
  return Object.fromEntries(entries);
};

const refuseArtifacts: ReadArtifactText = async () => await Promise.resolve({ problem: 'refused' });

/** Returns the text of a configuration that includes these files. */
export const toIncludeConfig = (include: readonly unknown[]): string => JSON.stringify({ include });

/** Returns a configuration that includes the project's own file with inputs; empty without inputs. */
export const toConfigWithInputs = (project: Project, inputs: unknown): Pick<PipelineRequest, 'child'> =>
  inputs === null
    ? {}
    : {
        child: {
          content: toIncludeConfig([{ ...toConfigInclude(project), inputs }]),
          readArtifact: refuseArtifacts,
        },
      };
