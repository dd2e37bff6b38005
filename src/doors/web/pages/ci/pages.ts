import { exposedPages } from './exposed_artifacts.ts';
import { jobListPages } from './job_list.ts';
import { jobPages } from './job_page.ts';
import { jobActPages } from './job_form_handlers.ts';
import { browsePages } from './job_artifacts.ts';
import { pipelinePages } from './pipelines/pipeline_page.ts';
import { pipelineListPages } from './pipelines/pipeline_list.ts';
import { testReportPages } from './pipelines/test_report.ts';
import { deletePipelinePages } from './pipelines/delete_pipeline.ts';
import { startStagePages } from './pipelines/start_stage.ts';
import { newPipelinePages } from './pipelines/new_pipeline.ts';

export const pages = [
  ...pipelineListPages,
  ...newPipelinePages,
  ...pipelinePages,
  ...startStagePages,
  ...deletePipelinePages,
  ...testReportPages,
  ...jobListPages,
  ...jobPages,
  ...jobActPages,
  ...browsePages,
  ...exposedPages,
];
