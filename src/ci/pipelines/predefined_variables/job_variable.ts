export type JobVariable = {
  key: string;
  value: string;
  /** Not secret. */
  public: boolean;
  /** The runner writes it to a file, and sets the file's path. */
  file: boolean;
  masked: boolean;
  /** `$` references are not expanded. */
  raw: boolean;
};
