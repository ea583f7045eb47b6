// Uses the Kotlin client of OpenAPI Generator as an app does, and prints each result.
package sounds.client

import java.time.OffsetDateTime
import java.util.UUID
import okhttp3.MediaType.Companion.toMediaType
import okhttp3.OkHttpClient
import okhttp3.Request
import okhttp3.RequestBody.Companion.toRequestBody
import sounds.client.apis.AuthApi
import sounds.client.apis.CatalogueApi
import sounds.client.apis.ConfigApi
import sounds.client.apis.FavoritesApi
import sounds.client.apis.HomeApi
import sounds.client.apis.MeApi
import sounds.client.apis.PlaysApi
import sounds.client.apis.SoundsApi
import sounds.client.infrastructure.ApiClient
import sounds.client.infrastructure.ClientError
import sounds.client.infrastructure.ClientException
import sounds.client.infrastructure.Serializer
import sounds.client.models.AddFavoriteRequest
import sounds.client.models.OfflinePlay
import sounds.client.models.PlaysRequest
import sounds.client.models.RecoverRequest
import sounds.client.models.SignInRequest
import sounds.client.models.UpdateCustomerRequest
import sounds.client.models.VerifyRequest
import sounds.client.models.VerifyType

/** Prints the status, the code and the reason of a call that must fail. */
fun failure(call: () -> Unit) {
    try {
        call()
    } catch (error: ClientException) {
        val answer = error.response as ClientError<*>
        val code = Regex("\"code\":\"(\\w+)\"").find(answer.body.toString())?.groupValues?.get(1)
        println("${error.statusCode} $code ${answer.headers["x-error-reason"]?.single()}")
    }
}

/** Clears a field with an explicit null, which the generated client cannot send. */
fun clear(url: String, field: String) {
    val request = Request.Builder()
        .url("$url/me/customer")
        .header("Authorization", "Bearer ${ApiClient.accessToken}")
        .patch("""{"$field":null}""".toRequestBody("application/json".toMediaType()))
        .build()
    OkHttpClient().newCall(request).execute().use { check(it.isSuccessful) }
}

/** Reads from a newer service, in which each enumeration has a value that this client does not know. */
fun readNewer(url: String, id: UUID) {
    println("providers ${ConfigApi(url).getAppConfig().data.idTokenProviders.size}")
    println("source ${MeApi(url).getCustomer().data.source != null}")
    println("rules ${HomeApi(url).getHome().sections.any { it.ruleType != null }}")
    val play = OfflinePlay(UUID.randomUUID(), id, OffsetDateTime.now())
    println("plays ${PlaysApi(url).countPlays(PlaysRequest(listOf(play))).data.size}")
    println("changes ${CatalogueApi(url).listCatalogueChanges().data.isNotEmpty()}")
}

fun main(args: Array<String>) {
    val (url, email, password, category, newer) = args
    Serializer.kotlinxSerializationJsonConfiguration = { encodeDefaults = false }
    val auth = AuthApi(url)
    val sounds = SoundsApi(url)
    val favorites = FavoritesApi(url)
    val me = MeApi(url)

    val session = auth.signIn(SignInRequest(email, password)).data
    ApiClient.accessToken = session.accessToken
    println("signed in ${session.user.email}")

    val ids = mutableListOf<UUID>()
    var cursor: String? = null
    do {
        val page = sounds.listSounds(category = category, limit = 2, cursor = cursor)
        println("page ${page.`data`.size}")
        ids += page.`data`.map { it.id }
        cursor = page.nextCursor
    } while (cursor != null)
    println("sounds ${ids.joinToString(" ")}")

    val detail = sounds.getSound(ids[0]).data
    println("detail ${detail.id} ${detail.title} ${detail.audioUrlExpiresIn}")
    println("played ${sounds.countPlay(ids[0]).data.playCount}")
    favorites.addFavorite(AddFavoriteRequest(ids[0]))
    for (favorite in favorites.listFavorites().data) println("favorite ${favorite.soundId} ${favorite.sounds?.title}")

    me.updateCustomer(UpdateCustomerRequest(phone = "+49 170 1234567"))
    clear(url, "full_name")
    val customer = me.getCustomer().data
    println("customer ${customer.fullName} ${customer.phone} ${customer.source?.value}")

    failure { auth.signIn(SignInRequest(email, "wrong")) }
    failure { auth.verify(VerifyRequest(VerifyType.signup, email, "12345678", password)) }
    failure { sounds.getSound(UUID.fromString("00000000-0000-4000-8000-000000000000")) }
    failure { auth.recover(RecoverRequest(email)) }
    readNewer(newer, UUID.fromString(args[5]))
}
