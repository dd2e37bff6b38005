/** Plans a commit's pipeline: reads and compiles its configuration and evaluates its rules. */
import type { Platform } from '../../../core/platform.ts';
import { anonymous } from '../../../core/access/viewer.ts';
import type { Conditions } from '../../ci_file/conditions.ts';
import type { Plan } from '../../ci_file/plan.ts';
import type { Problem } from '../../ci_file/syntax/problems.ts';
import {
  type Origin,
  getConfigPath,
  createFetch,
  readProjectConfig,
  readableCodeFinder,
} from '../config/ci_files.ts';
import { type PipelineContext, buildConditions } from './rule_facts.ts';
import { readConfig } from '../config/read_config.ts';

/** `configErrors`: the pipeline fails before it starts; `refused`: no pipeline is created. */
export type PlanOutcome = { plan: Plan } | { configErrors: string[] } | { refused: string };

const missingFile = 'Missing .gitlab-ci.yml file';
const unreadableFile = 'The configuration is not a text, or too big!';
const maxErrors = 20;

const formatProblem = ({ text, position }: Problem, path: string): string => {
  if (position === null) return text;
  const where = position.file === path ? '' : `${position.file}: `;
  return `${where}${text} (line ${position.line})`;
};

type ConfigText = { text: string } | Exclude<PlanOutcome, { plan: Plan }>;

/** Loads the text of the project's configuration at a commit. */
export const loadConfigText = async (origin: Origin): Promise<ConfigText> => {
  const read = await readProjectConfig(origin);
  if ('text' in read) return read;
  return read.problem === 'missing' ? { refused: missingFile } : { configErrors: [unreadableFile] };
};

const planContent = async (
  platform: Platform,
  { code, commit, creator, readArtifact }: PipelineContext,
  content: string,
  conditions: Conditions,
): Promise<PlanOutcome> => {
  // A child pipeline has its own name, because it may include the project's file.
  const path = readArtifact === undefined ? getConfigPath(code.project) : 'trigger';
  const origin: Origin = { code, commit: commit.id };
  const sources = { origins: platform.config.ci_include_origins, readArtifact };
  const fetch = createFetch(readableCodeFinder(platform, creator?.viewer ?? anonymous), sources);
  const owner = `project ${code.project.id}`;
  const options = { jobs: 'plan', merged: false } as const;
  const { errors, planned } = await readConfig({ content, path, origin, fetch, conditions }, options, owner);
  if (planned === null)
    return { configErrors: errors.slice(0, maxErrors).map((error) => formatProblem(error, path)) };
  if ('plan' in planned) return planned;
  const { refused, text } = planned.unplanned;
  return refused === 'error' ? { configErrors: [text] } : { refused: text };
};

/** Plans the pipeline that a configuration defines for this commit, ref and user. */
export const planPipeline = async (
  platform: Platform,
  occasion: PipelineContext,
  content: string,
): Promise<PlanOutcome> =>
  await planContent(platform, occasion, content, await buildConditions(platform, occasion));
