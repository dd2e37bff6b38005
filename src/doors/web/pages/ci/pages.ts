import { exposedPages } from './exposed_artifacts.ts';
import { jobListPages } from './job_list.ts';
import { jobPages } from './job_page.ts';
import { jobActPages } from './job_form_handlers.ts';
import { browsePages } from './job_artifacts.ts';
import { pipelinePages } from './pipeline_page.ts';
import { pipelineListPages } from './pipeline_list.ts';
import { pipelineNewPages } from './new_pipeline.ts';

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
