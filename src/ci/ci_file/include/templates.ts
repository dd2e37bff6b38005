/** The built-in templates of `include: template`, by name. */

const branchPipelines = `
workflow:
  rules:
    - if: $CI_COMMIT_TAG
    - if: $CI_COMMIT_BRANCH
`;

const requestPipelines = `
workflow:
  rules:
    - if: $CI_MERGE_REQUEST_IID
    - if: $CI_COMMIT_TAG
    - if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
`;

const bash = `
build1:
  stage: build
  script:
    - echo "Build the project"

test1:
  stage: test
  script:
    - echo "Run the tests"

test2:
  stage: test
  script:
    - echo "Run more tests in parallel"

deploy1:
  stage: deploy
  script:
    - echo "Deploy the project"
  environment: production
  rules:
    - if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
`;

const cpp = `
image: gcc

build:
  stage: build
  script:
    - make
  artifacts:
    paths:
      - "*.o"
      - "*.out"

test:
  stage: test
  script:
    - make test
`;

const pagesHtml = `
pages:
  stage: deploy
  script:
    - mkdir .public
    - cp -r . .public
    - rm -rf public
    - mv .public public
  artifacts:
    paths:
      - public
  rules:
    - if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
`;

const nodejs = `
image: node:latest

cache:
  key:
    files: [package-lock.json]
  paths:
    - node_modules/

test:
  script:
    - npm ci
    - npm test
`;

const python = `
image: python:latest

variables:
  PIP_CACHE_DIR: "$CI_PROJECT_DIR/.cache/pip"

cache:
  paths:
    - .cache/pip

test:
  before_script:
    - python -m venv .venv
    - . .venv/bin/activate
    - pip install -r requirements.txt
  script:
    - python -m unittest
`;

const go = `
image: golang:latest

test:
  stage: test
  script:
    - go vet ./...
    - go test ./...

build:
  stage: build
  script:
    - go build -o bin/ ./...
  artifacts:
    paths:
      - bin
`;

const rust = `
image: rust:latest

test:
  script:
    - rustc --version
    - cargo test --workspace
`;

const fileSuffix = '.gitlab-ci.yml';

const templates: ReadonlyMap<string, string> = new Map([
  ['Bash', bash],
  ['C++', cpp],
  ['Go', go],
  ['Nodejs', nodejs],
  ['Pages/HTML', pagesHtml],
  ['Python', python],
  ['Rust', rust],
  ['Workflows/Branch-Pipelines', branchPipelines],
  ['Workflows/MergeRequest-Pipelines', requestPipelines],
]);

/** Returns the text of a template; null if there is none. */
export const getTemplateText = (name: string): string | null =>
  name.endsWith(fileSuffix) ? (templates.get(name.slice(0, -fileSuffix.length)) ?? null) : null;
