import { exposedPages } from './exposed.ts';
import { jobListPages } from './job_list.ts';
import { jobPages } from './job.ts';
import { jobActPages } from './job_acts.ts';
import { browsePages } from './job_artifacts.ts';
import { pipelinePages } from './pipeline.ts';
import { pipelineListPages } from './pipeline_list.ts';
import { pipelineNewPages } from './pipeline_new.ts';

export const pages = [
  ...pipelineListPages,
  ...pipelineNewPages,
  ...pipelinePages,
  ...jobListPages,
  ...jobPages,
  ...jobActPages,
  ...browsePages,
  ...exposedPages,
];
