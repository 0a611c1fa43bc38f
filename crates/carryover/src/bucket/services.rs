//! Services that keep objects, and what the environment says of them: keys, endpoints, regions.
//!
//! Nothing is looked for anywhere else: no settings of other programs, no service of the machine that hands out keys.

use std::path::Path as FilePath;
use std::sync::Arc;
use std::time::Duration;

use carryover_agents::Env;
use carryover_engine::context::Context;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey, S3ConditionalPut};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::path::Path;
use object_store::{BackoffConfig, RetryConfig};
use serde::Deserialize;

use super::OpenBucketError;
use super::address::{Service, ServiceAddress};
use super::http::Connections;
use super::object_bucket::{LargeUpload, ObjectBucket, ObjectStoreParts};
use super::store_error::describe_setting;

/// Variables that are passed on to S3 and what is like it.
const S3_VARIABLES: &[&str] = &[
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_DEFAULT_REGION",
    "AWS_REGION",
    "AWS_ENDPOINT",
    "AWS_ENDPOINT_URL",
    "AWS_ENDPOINT_URL_S3",
    "AWS_VIRTUAL_HOSTED_STYLE_REQUEST",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_ROLE_ARN",
    "AWS_ROLE_SESSION_NAME",
    "AWS_ENDPOINT_URL_STS",
    "AWS_SKIP_SIGNATURE",
    "AWS_REQUEST_PAYER",
    "AWS_SERVER_SIDE_ENCRYPTION",
    "AWS_SSE_KMS_KEY_ID",
    "AWS_SSE_BUCKET_KEY_ENABLED",
];
const AZURE_VARIABLES: &[&str] = &[
    "AZURE_STORAGE_ACCOUNT_NAME",
    "AZURE_STORAGE_ACCOUNT_KEY",
    "AZURE_STORAGE_ACCESS_KEY",
    "AZURE_STORAGE_SAS_TOKEN",
    "AZURE_STORAGE_SAS_KEY",
    "AZURE_STORAGE_TOKEN",
    "AZURE_STORAGE_ENDPOINT",
    "AZURE_CLIENT_ID",
    "AZURE_CLIENT_SECRET",
    "AZURE_TENANT_ID",
    "AZURE_AUTHORITY_HOST",
    "AZURE_FEDERATED_TOKEN_FILE",
];
const GCS_VARIABLES: &[&str] = &[
    "GOOGLE_SERVICE_ACCOUNT",
    "GOOGLE_SERVICE_ACCOUNT_PATH",
    "GOOGLE_SERVICE_ACCOUNT_KEY",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GOOGLE_BEARER_TOKEN",
    "GOOGLE_BASE_URL",
    "GOOGLE_SKIP_SIGNATURE",
];

/// A service that keeps hanging up is asked three times, and not for longer than somebody waits.
fn bounded_retries() -> RetryConfig {
    let backoff =
        BackoffConfig { init_backoff: Duration::from_millis(100), max_backoff: Duration::from_secs(2), base: 2.0 };
    RetryConfig { backoff, max_retries: 2, retry_timeout: Duration::from_secs(8) }
}

pub(super) fn open_service(context: &Context, address: &ServiceAddress) -> Result<ObjectBucket, OpenBucketError> {
    let env = &context.env;
    let settings = |error: object_store::Error| OpenBucketError::Settings {
        place: address.place.clone(),
        reason: describe_setting(&error),
    };
    let prefix = address.prefix.clone();
    let parts = match address.service {
        Service::S3 => open_s3(env, address, prefix, &settings)?,
        Service::Azure => open_azure(env, address, prefix, &settings)?,
        Service::Gcs => open_gcs(env, address, prefix, &settings)?,
    };
    Ok(ObjectBucket::new(parts)?)
}

type ExplainSettings<'a> = &'a dyn Fn(object_store::Error) -> OpenBucketError;

/// Variables that are set, none of them empty.
fn set_variables<'a>(env: &'a Env, names: &'a [&'static str]) -> impl Iterator<Item = (&'static str, &'a str)> {
    names.iter().filter_map(|name| Some((*name, env.var(name)?))).filter(|(_, value)| !value.is_empty())
}

fn is_set(env: &Env, name: &str) -> bool {
    env.var(name).is_some_and(|value| !value.is_empty())
}

fn is_true(env: &Env, name: &str) -> bool {
    env.var(name).is_some_and(|value| ["true", "1", "yes", "on"].contains(&value.to_ascii_lowercase().as_str()))
}

fn missing(address: &ServiceAddress, variables: &'static str, hint: &'static str) -> OpenBucketError {
    OpenBucketError::NoCredentials { place: address.place.clone(), variables, hint }
}

fn open_s3(
    env: &Env,
    address: &ServiceAddress,
    prefix: Path,
    settings: ExplainSettings<'_>,
) -> Result<ObjectStoreParts, OpenBucketError> {
    let has_keys = is_set(env, "AWS_ACCESS_KEY_ID") && is_set(env, "AWS_SECRET_ACCESS_KEY");
    let has_role = is_set(env, "AWS_WEB_IDENTITY_TOKEN_FILE") && is_set(env, "AWS_ROLE_ARN");
    let is_anonymous = is_true(env, "AWS_SKIP_SIGNATURE");
    if !has_keys && !has_role && !is_anonymous {
        return Err(missing(
            address,
            "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
            "`eval \"$(aws configure export-credentials --format env)\"` sets those of a profile of yours",
        ));
    }
    let connections = Connections::new(env, is_true(env, "AWS_ALLOW_HTTP"), true);
    let mut builder = AmazonS3Builder::new()
        .with_url(&address.url)
        .with_retry(bounded_retries())
        // What is like S3 need not have the call that deletes many at once.
        .with_disable_bulk_delete(true)
        .with_http_connector(connections);
    for (name, value) in set_variables(env, S3_VARIABLES) {
        if let Ok(key) = name.to_ascii_lowercase().parse::<AmazonS3ConfigKey>() {
            builder = builder.with_config(key, value);
        }
    }
    let store = Arc::new(builder.with_conditional_put(S3ConditionalPut::ETagMatch).build().map_err(settings)?);
    Ok(ObjectStoreParts {
        signer: (!is_anonymous).then(|| Arc::clone(&store) as _),
        store,
        prefix,
        place: address.place.clone(),
        large: LargeUpload::ConditionalParts,
    })
}

fn open_azure(
    env: &Env,
    address: &ServiceAddress,
    prefix: Path,
    settings: ExplainSettings<'_>,
) -> Result<ObjectStoreParts, OpenBucketError> {
    let has_key = is_set(env, "AZURE_STORAGE_ACCOUNT_KEY") || is_set(env, "AZURE_STORAGE_ACCESS_KEY");
    let has_token = ["AZURE_STORAGE_SAS_TOKEN", "AZURE_STORAGE_SAS_KEY", "AZURE_STORAGE_TOKEN"];
    let has_client = ["AZURE_CLIENT_SECRET", "AZURE_FEDERATED_TOKEN_FILE"];
    let has_client = is_set(env, "AZURE_CLIENT_ID") && has_client.iter().any(|name| is_set(env, name));
    if !has_key && !has_client && !has_token.iter().any(|name| is_set(env, name)) {
        return Err(missing(
            address,
            "AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY or AZURE_STORAGE_SAS_TOKEN",
            "`az storage account keys list --account-name NAME` shows them",
        ));
    }
    let connections = Connections::new(env, is_true(env, "AZURE_ALLOW_HTTP"), false);
    let mut builder = MicrosoftAzureBuilder::new()
        .with_url(&address.url)
        .with_retry(bounded_retries())
        .with_http_connector(connections);
    for (name, value) in set_variables(env, AZURE_VARIABLES) {
        if let Ok(key) = name.to_ascii_lowercase().parse::<AzureConfigKey>() {
            builder = builder.with_config(key, value);
        }
    }
    let store = Arc::new(builder.build().map_err(settings)?);
    Ok(ObjectStoreParts {
        signer: (has_key || has_client).then(|| Arc::clone(&store) as _),
        store,
        prefix,
        place: address.place.clone(),
        large: LargeUpload::ConditionalCopy,
    })
}

fn open_gcs(
    env: &Env,
    address: &ServiceAddress,
    prefix: Path,
    settings: ExplainSettings<'_>,
) -> Result<ObjectStoreParts, OpenBucketError> {
    let has_account = ["GOOGLE_SERVICE_ACCOUNT", "GOOGLE_SERVICE_ACCOUNT_PATH", "GOOGLE_SERVICE_ACCOUNT_KEY"];
    let has_account = has_account.iter().any(|name| is_set(env, name));
    let has_user = is_set(env, "GOOGLE_APPLICATION_CREDENTIALS");
    let is_anonymous = is_true(env, "GOOGLE_SKIP_SIGNATURE");
    if !has_account && !has_user && !is_anonymous && !is_set(env, "GOOGLE_BEARER_TOKEN") {
        return Err(missing(
            address,
            "GOOGLE_APPLICATION_CREDENTIALS",
            "`gcloud auth application-default login` makes such a file and tells its place",
        ));
    }
    let connections = Connections::new(env, is_true(env, "GOOGLE_ALLOW_HTTP"), false);
    let mut builder = GoogleCloudStorageBuilder::new()
        .with_url(&address.url)
        .with_retry(bounded_retries())
        .with_http_connector(connections);
    if !has_account && !has_user {
        // Else it looks for some by itself.
        builder = builder.with_service_account_key(NO_ACCOUNT);
    }
    for (name, value) in set_variables(env, GCS_VARIABLES) {
        if let Ok(key) = name.to_ascii_lowercase().parse::<GoogleConfigKey>() {
            builder = builder.with_config(key, value);
        }
    }
    let store = Arc::new(builder.build().map_err(settings)?);
    let can_sign = has_account || env.path_var("GOOGLE_APPLICATION_CREDENTIALS").is_some_and(|path| is_account(&path));
    Ok(ObjectStoreParts {
        signer: can_sign.then(|| Arc::clone(&store) as _),
        store,
        prefix,
        place: address.place.clone(),
        large: LargeUpload::ConditionalCopy,
    })
}

/// An account that nothing is signed with.
const NO_ACCOUNT: &str = r#"{"private_key":"","private_key_id":"","client_email":"","disable_oauth":true}"#;

/// Whether a file of credentials has a key to sign with; a user's has none.
fn is_account(path: &FilePath) -> bool {
    #[derive(Deserialize)]
    struct Credentials {
        r#type: String,
    }
    let read = fs_err::read(path).ok().and_then(|bytes| serde_json::from_slice::<Credentials>(&bytes).ok());
    read.is_some_and(|credentials| credentials.r#type == "service_account")
}
