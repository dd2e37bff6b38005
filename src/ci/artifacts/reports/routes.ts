/** Endpoints of a pipeline's test report. */
import { endpoint } from '../../../core/access/endpoint.ts';
import { id, object } from '../../../platform/http/schema.ts';
import { findPipeline } from '../../pipelines/find.ts';
import { projectParam } from '../../../code/repository/find_code.ts';
import { reportJson, reportShape, summaryJson, summaryShape } from './json.ts';
import { buildTestSuites } from './test_report.ts';

const area = 'pipelines';
const params = object({ id: projectParam, pipeline_id: id() });

const report = endpoint({
  method: 'GET',
  path: '/projects/:id/pipelines/:pipeline_id/test_report',
  summary: 'Get the test report of a pipeline',
  area,
  audience: 'user',
  params,
  reply: reportShape,
  handle: async (call, params) => {
    const pipeline = await findPipeline(call, params.id, params.pipeline_id, 'read_job');
    return reportJson(await buildTestSuites(call, pipeline));
  },
});

const summary = endpoint({
  method: 'GET',
  path: '/projects/:id/pipelines/:pipeline_id/test_report_summary',
  summary: 'Get the test report summary of a pipeline',
  area,
  audience: 'user',
  params,
  reply: summaryShape,
  handle: async (call, params) => {
    const pipeline = await findPipeline(call, params.id, params.pipeline_id, 'read_job');
    return summaryJson(await buildTestSuites(call, pipeline));
  },
});

export const reportRoutes = [report, summary];
