import { jobPages } from './job.ts';
import { jobActPages } from './job_acts.ts';
import { browsePages } from './job_artifacts.ts';
import { pipelinePages } from './pipeline.ts';
import { pipelineListPages } from './pipeline_list.ts';

export const pages = [...pipelineListPages, ...pipelinePages, ...jobPages, ...jobActPages, ...browsePages];
