// Runs the code of kotlin.md against the service and checks the results. The code replaces the comments in capitals.
package sounds.guide

// THE IMPORTS OF kotlin.md

// Declares the part of Media3 that the code uses, because Media3 is not on Maven Central.
class PlaybackException(cause: Throwable) : Exception(cause)
object HttpDataSource { class InvalidResponseCodeException(val responseCode: Int) : IOException() }
data class MediaItem(val uri: String) { companion object { fun fromUri(uri: String) = MediaItem(uri) } }
object Player {
    interface Listener {
        fun onPlayerError(error: PlaybackException)
        fun onIsPlayingChanged(isPlaying: Boolean)
    }
}
class ExoPlayer {
    val opened = mutableListOf<Long>()
    val currentPosition = 7_000L
    fun setMediaItem(item: MediaItem, position: Long) { check(item.uri.startsWith("http")); opened += position }
    fun prepare() {}
    fun play() {}
}

lateinit var base: String
lateinit var session: Session
lateinit var accounts: Accounts
val outbox = Outbox()
var unavailable = 0
fun showUnavailable() { unavailable++ }

// Paths whose next call fails as if there were no network.
val broken = mutableSetOf<String>()
val http = OkHttpClient.Builder().callTimeout(20, SECONDS).readTimeout(20, SECONDS)
    .addInterceptor { it.proceed(it.request().newBuilder().header("User-Agent", "Sounds/1.2 (Pixel)").build()) }
    .addInterceptor { if (broken.remove(it.request().url.encodedPath)) throw IOException() else it.proceed(it.request()) }
    .build()

class Outbox {
    val wanted = mutableMapOf<String, Boolean>()
    val waiting = mutableListOf<JSONObject>()
    val places = mutableMapOf<String, JSONObject>()
    fun favorites() = wanted.toMap()
    fun removeFavorite(id: String, ifStill: Boolean) = wanted.remove(id, ifStill)
    fun plays() = waiting.toList()
    fun removePlays(sent: List<JSONObject>) { waiting.removeAll(sent) }
    fun setPosition(entry: JSONObject) { places[entry.getString("sound_id")] = entry }
    fun positions() = places.values.toList()
    fun removePositions(sent: List<JSONObject>) { places.values.removeAll { entry -> sent.any { it === entry } } }
}

// THE CODE OF kotlin.md

class MemoryCopy : Copy {
    val rows = mutableMapOf<String, JSONObject>()
    override var next: String? = null
    override fun inTransaction(change: () -> Unit) = change()
    override fun put(kind: String, id: String, row: JSONObject) { rows["$kind $id"] = row }
    override fun remove(kind: String, id: String) { rows.remove("$kind $id") }
    override fun clear() = rows.clear()
}

fun expect(expected: Any, actual: Any?) = check("$expected" == "$actual") { "$actual instead of $expected" }

suspend fun reasonOf(call: suspend () -> Unit) = try {
    call()
    "none"
} catch (failure: Failure) {
    "${failure.status} ${failure.reason} ${failure.field} ${failure.requestId != null}"
}

fun main(args: Array<String>) = runBlocking {
    val (address, email, password) = args
    base = address
    val newerService = args[3]
    val folder = File("guide").apply { mkdir() }
    val key = KeyGenerator.getInstance("AES").generateKey()
    val store = FileTokens(File(folder, "session"), key)
    session = Session(base, http, store)
    accounts = Accounts(base, http, store)

    check(config(File(folder, "config")).getString("storage_url").startsWith("http"))
    broken += "/api/v1/config"
    check(config(File(folder, "config")).getBoolean("sign_up")) // without a network

    expect("401 invalid_credentials null true", reasonOf { accounts.signIn(email, "wrong") })
    expect("400 validation password true", reasonOf { accounts.signUp("new@example.com", "short", null) })
    expect("401 code_invalid null true", reasonOf { accounts.enterRecoveryCode(email, "12345678") })
    expect("401 session_ended null false", reasonOf { allSounds() })
    expect(Screen.Home, accounts.signIn(email, password))
    val issued = FileTokens(File(folder, "session"), key).load()!!

    store.save(Tokens("refused", issued.refresh, issued.due))
    broken += "/api/v1/auth/refresh"
    val id = allSounds().first().getString("id")
    val refreshed = store.load()!!
    check(refreshed.refresh != issued.refresh)

    store.save(Tokens(refreshed.access, refreshed.refresh, 0))
    outbox.wanted += mapOf(id to true, UUID.randomUUID().toString() to true)
    sendFavorites()
    check(store.load()!!.refresh != refreshed.refresh)

    fun play(sound: String) = JSONObject().put("id", UUID.randomUUID().toString()).put("sound_id", sound)
        .put("played_at", java.time.Instant.now().toString())
    outbox.waiting += listOf(play(id), play("no id"), play(id))
    sendPlays()
    check(outbox.wanted.isEmpty() && outbox.waiting.isEmpty())

    val copy = MemoryCopy()
    sync(copy)
    check(copy.rows["sound $id"]!!.has("title"))
    session = Session(newerService, http, store)
    base = newerService
    val newer = MemoryCopy()
    sync(newer)
    expect(0, newer.rows.size) // all kinds of the newer service are unknown
    base = address
    session = Session(base, http, store)

    // The catalogue has the file, but Storage answers 404 for every address of it.
    val player = ExoPlayer()
    val missing = PlaybackException(HttpDataSource.InvalidResponseCodeException(404))
    val playback = Playback(player, this)
    playback.play(args[4])
    playback.onPlayerError(missing)
    coroutineContext.job.children.forEach { it.join() }
    playback.onPlayerError(missing)
    expect("[0, 7000] 1", "${player.opened} $unavailable")

    saveProgress(id, 1.0)
    saveProgress(id, 75.5)
    saveProgress("no id", 20.0)
    sendProgress()
    expect("[75.5] 0", "${positions().map { it.getDouble("position_sec") }} ${outbox.places.size}")
    expect("[0.0, 75.5, 0.0]", listOf(10.0, 75.5, 290.0).map { startOf(it, 300.0) })

    val file = download(args[5], folder)!!
    val bytes = file.readBytes()
    check(file.renameTo(File("${file.path}.part")))
    File("${file.path}.part").writeBytes(bytes.copyOf(100))
    expect(5000, bytes.size)
    check(download(args[5], folder)!!.readBytes().contentEquals(bytes)) // resumed
    check(download(UUID.randomUUID().toString(), folder) == null)

    expect("[2]", dataOf(history()).map { it.getInt("plays") })
    clearHistory()
    check(dataOf(history()).isEmpty() && positions().isEmpty())

    check(devices().any { it.optString("user_agent") == "Sounds/1.2 (Pixel)" })
    signOutDevice()
    expect("[true]", devices().map { it.getBoolean("is_current") })
    check(export().toString().contains(email))
    changePassword(email, password, "staple battery horse")
    expect("401 invalid_credentials null true", reasonOf { changePassword(email, password, "another one here") })
    signOut()
    expect("401 session_ended null false", reasonOf { devices() })

    expect("${Screen.Home} ${args[8]}", "${accounts.signInWith(args[6], args[7])} ${hashOf(args[7])}")
    deleteAccount()
    check(store.load() == null)
    expect("401 invalid_credentials null true", reasonOf { accounts.signIn(email, "staple battery horse") })
}
