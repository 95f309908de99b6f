//! Checkpoints: what consumers say they have processed (contract 4.12).

use authority_domain::cursor::Owner;
use authority_domain::list_filter::CheckpointFilter;
use authority_domain::sync::CheckpointRequest;
use authority_domain::sync::checkpoint::{
    Acknowledged, CHECKPOINTS_MAX, Checkpoint, CheckpointStream, too_many_checkpoints,
};
use authority_domain::{CheckpointId, ErrorCode, ListKind, Refusal, Result, Tenant};

use crate::app::lists::written;
use crate::app::{Answer, App, Caller, List, ListRequest, Mutation, Work};

impl App {
    /// `POST /sync/checkpoints`: answers with the checkpoint as it is then, moved or not.
    pub async fn checkpoint_acknowledge(&self, caller: &Caller, mutation: Mutation) -> Result<Answer> {
        let (app, request) = (self.clone(), CheckpointRequest::read(&mutation.body));
        self.for_caller(mutation, caller, None, async move |work, owner| {
            let tenant = owner.tenant;
            let request = request?;
            let latest = work.tx.stream_range(&tenant).await?.latest;
            let position = app.acknowledged_position(&tenant, &request, latest)?;
            let checkpoint = acknowledge(work, &tenant, request.at(position)).await?;
            let id = checkpoint.id.clone();
            Ok(Answer::record(200, &checkpoint.seen_at(latest))?.about(id.as_str()))
        })
        .await
    }

    /// The position of the cursor, which must be one of the named feed. A cursor issued under a filter also marks
    /// a position in the whole feed. A cursor beyond the end of the stream was issued by a history that a restore
    /// has undone. It is refused: otherwise its consumer would seem to have no lag while other events take those
    /// positions.
    fn acknowledged_position(
        &self,
        tenant: &Tenant,
        request: &CheckpointRequest,
        latest: i64,
    ) -> Result<i64> {
        let list = match request.stream {
            CheckpointStream::Events => ListKind::Events,
            CheckpointStream::Orders => ListKind::SyncOrders,
        };
        let position =
            self.cursors.load().decode_any_filter(&request.cursor, list, Owner::Tenant(tenant)).ok();
        let position = position.and_then(|position| i64::try_from(position).ok());
        position.filter(|position| *position <= latest).ok_or_else(|| {
            let detail = format!("The cursor was not given out by the feed {} as it is.", request.stream);
            Refusal::new(ErrorCode::InvalidCursor, detail)
        })
    }

    /// `GET /sync/checkpoints`: newest first.
    pub async fn checkpoints_list(
        &self,
        caller: &Caller,
        request: &ListRequest,
        filter: CheckpointFilter,
    ) -> Result<List> {
        self.list(ListKind::Checkpoints, &caller.tenant, request, written, async move |tx, of| {
            let CheckpointFilter { streams, name } = filter;
            let found =
                tx.checkpoints_page(&of.tenant, &streams, name.as_deref(), of.before, of.rows).await?;
            // Read after the rows, so that no checkpoint is beyond the end.
            let latest = tx.stream_range(&of.tenant).await?.latest;
            Ok(found.into_iter().map(|(place, found)| (place, found.seen_at(latest))).collect::<Vec<_>>())
        })
        .await
    }
}

/// Moves the checkpoint to the acknowledged position, or creates it.
async fn acknowledge(work: &mut Work<'_>, tenant: &Tenant, said: Acknowledged) -> Result<Checkpoint> {
    if let Some(before) = work.tx.checkpoint_get(tenant, said.stream, &said.name).await? {
        let Some(moved) = before.clone().moved(said, work.now)? else { return Ok(before) };
        work.tx.checkpoint_put(tenant, &moved).await?;
        return Ok(moved);
    }
    if work.tx.checkpoint_count(tenant).await? >= CHECKPOINTS_MAX {
        return Err(too_many_checkpoints());
    }
    let id = CheckpointId::generate(work.now, &mut work.dice);
    let checkpoint = Checkpoint::begin(id, said, tenant.livemode, work.now);
    work.tx.checkpoint_put(tenant, &checkpoint).await?;
    Ok(checkpoint)
}
