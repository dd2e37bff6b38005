import type { Static } from 'typebox';
import type { DatedSite } from '../../core/access/site.ts';
import { bool, nullable, object } from '../../platform/http/schema.ts';
import { jsonBuilder, jsonShapes } from '../../planning/issuables/fields.ts';
import { listedLabelsShape } from '../../planning/issuables/lists/linked_labels.ts';
import { briefPipelineShape } from '../../code/repository/statuses/pipeline_summary.ts';
import { singlePipelineShape } from '../../code/repository/statuses/pipeline_detail.ts';
import { mergeRequestFields } from './fields.ts';
import type { FullMergeRequest } from './rows.ts';

const shapes = jsonShapes(mergeRequestFields);

export const mergeRequestJson = jsonBuilder<FullMergeRequest, typeof mergeRequestFields>(mergeRequestFields);

/** A merge request in a list. */
export const mergeRequestShape = object(shapes);

const extras = {
  subscribed: bool,
  user: object({ can_merge: bool }),
  blocking_discussions_resolved: bool,
  head_pipeline: nullable(singlePipelineShape),
  pipeline: nullable(briefPipelineShape),
};

/** A merge request in a list that takes `with_labels_details`. */
export const detailedMergeRequestShape = object({ ...shapes, labels: listedLabelsShape });

/** A single merge request. */
export const singleMergeRequestShape = object({ ...shapes, ...extras });

/** The fields of a single merge request, for endpoints that add more. */
export const singleMergeRequestFields = { ...shapes, ...extras };

/** A merge request as the target of a todo. */
export const todoMergeRequestShape = object({ ...shapes, subscribed: bool });

const { id, iid, project_id, title, description, state, created_at, updated_at, web_url } =
  mergeRequestFields;
const simpleFields = { id, iid, project_id, title, description, state, created_at, updated_at, web_url };

/** A merge request in a list with `view=simple`. */
export const simpleMergeRequestShape = object(jsonShapes(simpleFields));

export const simpleMergeRequestJson = jsonBuilder<FullMergeRequest, typeof simpleFields>(simpleFields);

/** Fields of a single merge request that lists omit. */
export type Extras = {
  subscribed: boolean;
  user: { can_merge: boolean };
  blocking_discussions_resolved: boolean;
  head_pipeline: Static<typeof singlePipelineShape> | null;
  /** A summary of the head pipeline. */
  pipeline: Static<typeof briefPipelineShape> | null;
};

export const todoMergeRequestJson = (row: FullMergeRequest, site: DatedSite, subscribed: boolean) => ({
  ...mergeRequestJson(row, site),
  subscribed,
});
