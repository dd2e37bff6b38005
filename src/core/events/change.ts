/** A change that the log records. */
export type Change = {
  /** Noun of the target and verb: `issue.created`. */
  kind: string;
  project_id: number | null;
  target_type: string;
  target_id: number;
  /** Changed fields, with values before and after if they exist. */
  data?: object;
  /** Values for observers, such as long texts, that the log does not keep. */
  transient?: object;
};
