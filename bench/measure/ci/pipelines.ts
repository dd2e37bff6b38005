/** Measures creating a pipeline and linting a configuration, compared with parsing its YAML alone. */
import { parseDocument } from 'yaml';
import { api } from '../../sites/root_api.ts';
import type { Bench } from '../../bench.ts';
import { makeCiProject, manyJobs } from '../../sites/ci_site.ts';
import { type Figure, median, shareFigure } from '../../measured_figures.ts';
import { startService } from '../../service.ts';

const jobs = 50;
const lintedLines = 1_000;
const times = 20;

const waitsOf = async (number: number, work: () => unknown): Promise<number[]> => {
  const waits: number[] = [];
  for (let n = 0; n < number; n += 1) {
    const began = performance.now();
    await work();
    waits.push(performance.now() - began);
  }
  return waits;
};

const roundsOf = async (bench: Bench, name: string, work: () => unknown): Promise<number[][]> => {
  await waitsOf(10, work); // warms up
  const rounds: number[][] = [];
  for (let round = 1; round <= bench.rounds; round += 1) {
    bench.progress(`${name}: round ${round} of ${bench.rounds}`);
    rounds.push(await waitsOf(times, work));
  }
  return rounds;
};

const floorOf = async (text: string): Promise<number> => {
  const parse = (): unknown => parseDocument(text).toJS();
  await waitsOf(times, parse);
  return median(await waitsOf(times, parse));
};

/** As people write them: several keys a job, some of them inherited. */
const longFile = (): string => {
  const head = 'stages: [build, test]\n.usual:\n  tags: [linux]\n  retry: 1\n';
  const job = (at: number): string =>
    `job ${at}:\n  extends: .usual\n  stage: ${at % 2 === 0 ? 'build' : 'test'}\n  variables:\n    PART: "${at}"\n` +
    `  script:\n    - make part-${at}\n  rules:\n    - if: $CI_COMMIT_BRANCH == "main"\n    - when: never\n`;
  let text = head;
  for (let at = 0; text.split('\n').length < lintedLines; at += 1) text += job(at);
  return text;
};

export const measureCiPipelines = async (bench: Bench): Promise<Figure[]> => {
  if (!bench.wants('ci_pipelines')) return [];
  const server = await startService(await bench.databases.empty());
  const { port } = server;
  try {
    const file = manyJobs(jobs);
    const { id } = await makeCiProject(port, 'made', file);
    const made = await roundsOf(bench, 'pipelines', async () => {
      await api(port, `POST /projects/${id}/pipeline`, { ref: 'main' });
    });
    const content = longFile();
    const linted = await roundsOf(bench, 'lint', async () => {
      const { valid } = await api<{ valid: boolean }>(port, 'POST /ci/lint', { content });
      if (!valid) throw new Error('it is not valid');
    });
    const pipeline = `pipeline of ${jobs} jobs`;
    const floor = await floorOf(file);
    const lint = `lint of ${lintedLines} lines`;
    const lintFloor = await floorOf(content);
    return [
      shareFigure(pipeline, made, 0.5, { floor }),
      shareFigure(pipeline, made, 0.95, { ...bench.goals.ciPipeline, floor }),
      shareFigure(lint, linted, 0.5, { ...bench.goals.ciLint, floor: lintFloor }),
      shareFigure(lint, linted, 0.95, { floor: lintFloor }),
    ];
  } finally {
    await server.stop();
  }
};
